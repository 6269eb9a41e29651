#include "log/log.h"

// zerolog's names.
#define SPDLOG_LEVEL_NAMES \
  { "trace", "debug", "info", "warn", "error", "fatal", "off" }
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace ranking::log {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("ranking-task", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::trace);
    // The message is a rendered JSON fragment: level and time are the only parts spdlog adds.
    made->set_formatter(std::make_unique<spdlog::pattern_formatter>(R"({"level":"%l","time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})",
                                                                    spdlog::pattern_time_type::utc));
    return made;
  }();
  return *instance;
}

std::string render(std::string_view message, Fields fields) {
  nlohmann::ordered_json line;
  line["message"] = message;
  for (const auto& [key, value] : fields) {
    if (!value.is_null()) line[key] = value;
  }
  // Bytes that are not UTF-8 (a path, say) are replaced: a log line is always valid JSON.
  const std::string object = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return object.substr(1, object.size() - 2);
}

void write(spdlog::level::level_enum level, std::string_view message, Fields fields) {
  if (logger().should_log(level)) logger().log(level, "{}", render(message, fields));
}

}  // namespace

void set_level(const std::string& name) { logger().set_level(spdlog::level::from_str(name)); }

void debug(std::string_view message, Fields fields) { write(spdlog::level::debug, message, fields); }
void info(std::string_view message, Fields fields) { write(spdlog::level::info, message, fields); }
void warn(std::string_view message, Fields fields) { write(spdlog::level::warn, message, fields); }
void error(std::string_view message, Fields fields) { write(spdlog::level::err, message, fields); }

bool debug_enabled() { return logger().should_log(spdlog::level::debug); }

}  // namespace ranking::log
