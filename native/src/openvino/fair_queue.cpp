#include "openvino/fair_queue.h"

#include <algorithm>

namespace ranking::openvino {

void FairQueue::add(const JobPtr& job) {
  Entry entry{job, {}};
  size_t tokens = 0;
  for (uint32_t i = 0; i < job->pairs.size(); ++i) {
    const auto bucket = bucket_of(job->pairs[i].ids.size());
    entry.waiting[bucket].push_back(i);
    tokens += bucket;
  }
  if (entry.waiting.empty()) return;
  pairs_ += job->pairs.size();
  padded_tokens_ += tokens;
  const Order order{virtual_now_ + static_cast<double>(tokens), arrivals_++};
  order_of_.emplace(job->ticket, order);
  entries_.emplace(order, std::move(entry));
}

void FairQueue::remove(Ticket ticket) {
  const auto order = order_of_.find(ticket);
  if (order == order_of_.end()) return;
  const auto entry = entries_.find(order->second);
  for (const auto& [bucket, waiting] : entry->second.waiting) {
    pairs_ -= waiting.size();
    padded_tokens_ -= waiting.size() * bucket;
  }
  entries_.erase(entry);
  order_of_.erase(order);
}

// The first request's longest bucket leads: long rows first leave the short ones to even out the end. What room is left goes to
// pairs of the same bucket from the requests behind it.
Batch FairQueue::take(size_t max_tokens) {
  Batch batch{entries_.begin()->second.waiting.rbegin()->first, {}};
  const auto room = std::max<size_t>(1, max_tokens / batch.length);
  const auto active = static_cast<double>(entries_.size());
  for (auto entry = entries_.begin(); entry != entries_.end() && batch.rows.size() < room;) {
    auto& [job, buckets] = entry->second;
    const auto waiting = buckets.find(batch.length);
    if (waiting == buckets.end()) {
      ++entry;
      continue;
    }
    for (auto& pairs = waiting->second; !pairs.empty() && batch.rows.size() < room; pairs.pop_back()) {
      batch.rows.push_back({job, pairs.back()});
    }
    if (waiting->second.empty()) buckets.erase(waiting);
    if (buckets.empty()) {
      order_of_.erase(job->ticket);
      entry = entries_.erase(entry);
    } else {
      ++entry;
    }
  }
  const auto taken = batch.rows.size() * batch.length;
  pairs_ -= batch.rows.size();
  padded_tokens_ -= taken;
  virtual_now_ += static_cast<double>(taken) / active;
  return batch;
}

}  // namespace ranking::openvino
