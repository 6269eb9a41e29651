// Messages of ipc/PROTOCOL.md, sections 4 and 5: what a Task reads, and what it writes.
//
// Readers throw ProtocolError. Writers append one frame to `out`, with keys in the order of the document's tables and the
// shortest MessagePack widths; scores are copied once, from the Task's vector into the frame.
#pragma once

#include <string>
#include <string_view>

#include "ipc/frame.h"
#include "task/task.h"

namespace ranking::ipc {

struct Hello {
  uint16_t protocol = 0;
  std::string client;
};

Hello read_hello(std::string_view payload);

// The deadline counts from `arrival`. An empty list of passages is for the caller to refuse: it does not end the connection.
RankRequest read_rank(std::string_view payload, Clock::time_point arrival);

// cancel and ping: no fields of their own.
void read_empty(std::string_view payload);

// `server` is the name and version of this process.
void write_welcome(std::string& out, const TaskInfo& info, std::string_view server);
void write_scores(std::string& out, uint64_t exchange, std::string_view id, const RankScores& scores);

// An empty id is left out. The message is made valid: cut to 4,096 bytes, bytes that are not UTF-8 replaced.
void write_error(std::string& out, uint64_t exchange, std::string_view id, const RankError& error);
void write_pong(std::string& out, uint64_t exchange, const TaskHealth& health);
void write_goaway(std::string& out);

// The code as it is written, such as "input_too_long".
std::string_view code_name(ErrorCode code);
std::string_view score_kind_name(ScoreKind kind);

}  // namespace ranking::ipc
