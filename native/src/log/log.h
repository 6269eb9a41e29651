// Structured log lines on stderr, one JSON object a line, in the shape the proxy's zerolog writes:
// {"level":"info","time":"2026-01-31T12:00:00.000Z","message":"...","request_id":"...", ...}.
//
// Never log text of a query or passage, nor any other bytes a client chose, except the request id.
// May be called from any thread.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace ranking::log {

// A null value is left out.
using Fields = std::initializer_list<std::pair<const char*, nlohmann::ordered_json>>;

// Lines below the level are not written. One of debug, info, warn, error, off; info until set.
void set_level(const std::string& name);

void debug(std::string_view message, Fields fields = {});
void info(std::string_view message, Fields fields = {});
void warn(std::string_view message, Fields fields = {});
void error(std::string_view message, Fields fields = {});

// Tells whether debug lines are written, for callers on the hot path.
bool debug_enabled();

}  // namespace ranking::log
