#include "openvino/workers.h"

#include "openvino/batch_run.h"

namespace ranking::openvino {

Workers::Workers(Engine& engine, uint32_t pad_id, std::function<void(BatchResult)> done)
    : engine_(engine), pad_id_(pad_id), done_(std::move(done)) {
  for (unsigned i = 0; i < engine.streams(); ++i) slots_.push_back(std::make_unique<Slot>());
  for (unsigned i = 0; i < engine.streams(); ++i) slots_[i]->thread = std::thread([this, i] { run(i); });
}

Workers::~Workers() {
  for (auto& slot : slots_) {
    std::lock_guard lock(slot->mutex);
    slot->stopping = true;
    slot->wake.notify_one();
  }
  for (auto& slot : slots_) slot->thread.join();
}

void Workers::start(unsigned stream, Batch batch) {
  auto& slot = *slots_[stream];
  std::lock_guard lock(slot.mutex);
  slot.batch = std::move(batch);
  slot.wake.notify_one();
}

void Workers::run(unsigned stream) {
  auto& slot = *slots_[stream];
  BatchRun batch_run(engine_, stream, pad_id_);
  for (;;) {
    std::unique_lock lock(slot.mutex);
    slot.wake.wait(lock, [&] { return slot.batch || slot.stopping; });
    if (!slot.batch) return;
    auto batch = std::move(*slot.batch);
    slot.batch.reset();
    lock.unlock();
    done_(batch_run.run(std::move(batch)));
  }
}

}  // namespace ranking::openvino
