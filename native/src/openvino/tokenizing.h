// The tokenizing stage: a few threads that turn admitted requests into pairs.
//
// Requests take turns slice by slice, so that one of 512 passages, or one with a text of megabytes, does not hold up one of four.
// A slice is the preparation (encode the query, find identical passages), a few passages, or one piece of a text to count.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "openvino/job.h"
#include "openvino/tokenizer.h"

namespace ranking::openvino {

class TokenizeWork;

class Tokenizing {
 public:
  // done is called once for each job, on one of the threads: pairs or error are set, or the job was abandoned.
  Tokenizing(const Tokenizer& tokenizer, unsigned threads, std::function<void(JobPtr)> done);
  ~Tokenizing();  // jobs still here are dropped

  void add(JobPtr job);

 private:
  void run();
  void put_back(const std::shared_ptr<TokenizeWork>& work);

  const Tokenizer& tokenizer_;
  const std::function<void(JobPtr)> done_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<TokenizeWork>> ring_;  // requests with a slice to take, each once
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ranking::openvino
