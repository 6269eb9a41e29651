#include "openvino/tokenizing.h"

#include "openvino/tokenize_work.h"

namespace ranking::openvino {

Tokenizing::Tokenizing(const Tokenizer& tokenizer, unsigned threads, std::function<void(JobPtr)> done)
    : tokenizer_(tokenizer), done_(std::move(done)) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

Tokenizing::~Tokenizing() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Tokenizing::add(JobPtr job) {
  {
    std::lock_guard lock(mutex_);
    ring_.push_back(std::make_shared<TokenizeWork>(tokenizer_, std::move(job)));
  }
  wake_.notify_one();
}

void Tokenizing::put_back(const std::shared_ptr<TokenizeWork>& work) {
  ring_.push_back(work);
  wake_.notify_one();
}

void Tokenizing::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !ring_.empty(); });
    if (stopping_) return;
    const auto work = std::move(ring_.front());
    ring_.pop_front();
    if (!work->claimable()) continue;  // failed or abandoned since it was put here
    const auto slice = work->claim();
    if (work->claimable()) put_back(work);
    lock.unlock();
    auto error = work->run(slice);
    lock.lock();
    const bool was_claimable = work->claimable();
    work->release(slice, std::move(error));
    if (!was_claimable && work->claimable()) put_back(work);
    if (!work->finished()) continue;
    lock.unlock();
    done_(work->job());
    lock.lock();
  }
}

}  // namespace ranking::openvino
