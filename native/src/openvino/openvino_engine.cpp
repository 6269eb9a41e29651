#include "openvino/openvino_engine.h"

#include <sched.h>

#include <algorithm>
#include <future>
#include <new>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/properties.hpp>
#include <stdexcept>
#include <system_error>

#include "log/log.h"

namespace ranking::openvino {
namespace {

constexpr auto kInputs = {"input_ids", "attention_mask", "token_type_ids"};

bool has_input(const ov::Model& model, std::string_view name) {
  const auto inputs = model.inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const auto& port) { return port.get_names().contains(std::string(name)); });
}

void check_input(const ov::Output<const ov::Node>& port) {
  const auto name = port.get_any_name();
  if (std::find(kInputs.begin(), kInputs.end(), name) == kInputs.end())
    throw std::runtime_error("the model has an unknown input " + name);
  if (port.get_element_type() != ov::element::i64) throw std::runtime_error("input " + name + " must be i64");
  const auto& shape = port.get_partial_shape();
  if (shape.rank().is_static() && shape.size() == 2 && shape[0].is_dynamic() && shape[1].is_dynamic()) return;
  throw std::runtime_error("input " + name + " must have the shape [batch, length], both dynamic");
}

// One score per row; more would be a classifier, whose rows would run into each other.
void check_output(const ov::Model& model) {
  if (model.outputs().size() != 1) throw std::runtime_error("the model must have one output, the score");
  const auto output = model.output(0);
  if (output.get_element_type() != ov::element::f32) throw std::runtime_error("the output must be f32");
  const auto& shape = output.get_partial_shape();
  const bool column = shape.rank().is_static() && shape.size() == 2 && shape[1].is_static() && shape[1].get_length() == 1;
  const bool vector = shape.rank().is_static() && shape.size() == 1;
  if (!column && !vector) throw std::runtime_error("the output must be one score per row, of shape [batch] or [batch, 1]");
}

void check_model(const ov::Model& model) {
  for (const auto* name : {"input_ids", "attention_mask"}) {
    if (!has_input(model, name)) throw std::runtime_error(std::string("the model has no input ") + name);
  }
  for (const auto& port : model.inputs()) check_input(port);
  check_output(model);
}

ov::AnyMap properties(const EngineOptions& options) {
  return {
      // Named, since the plugin's own choice is bf16 where the CPU has it: slower than f32 without AMX, and other scores.
      ov::hint::inference_precision(ov::element::f32),
      ov::num_streams(static_cast<int>(options.streams)),
      ov::inference_num_threads(static_cast<int>(options.streams * options.threads)),
      // Pinned threads lose when the machine does other work too, such as the proxy and the tokenizer.
      ov::hint::enable_cpu_pinning(false),
      // Each shape costs memory for its kernels; this bounds the number kept.
      {"CPU_RUNTIME_CACHE_CAPACITY", std::to_string(options.shape_cache)},
  };
}

ov::CompiledModel compile(const EngineOptions& options, std::string& device, bool& has_type_ids) {
  ov::Core core;
  const auto model = core.read_model(options.model);
  check_model(*model);
  has_type_ids = has_input(*model, "token_type_ids");
  device = core.get_property("CPU", ov::device::full_name);
  return core.compile_model(model, "CPU", properties(options));
}

// A thread that wakes takes the core from one of SCHED_IDLE at once, where it might wait for the end of another's time slice
// (sched(7)). The threads that compute are OpenVINO's own, and get the policy from the one that compiles.
ov::CompiledModel compile_in_background(const EngineOptions& options, std::string& device, bool& has_type_ids) {
  const auto compile_here = [&] {
    const sched_param none{};
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
      log::warn("inference is not in the background", {{"error", std::generic_category().message(errno)}});
    return compile(options, device, has_type_ids);
  };
  return std::async(std::launch::async, compile_here).get();
}

bool is_memory_shortage(const ov::Exception& e) { return std::string_view(e.what()).find("bad_alloc") != std::string_view::npos; }

}  // namespace

OpenvinoEngine::OpenvinoEngine(const EngineOptions& options) try
    : compiled_((options.background ? compile_in_background : compile)(options, device_, has_type_ids_)) {
  for (unsigned i = 0; i < options.streams; ++i) requests_.push_back(compiled_.create_infer_request());
} catch (const std::exception& e) {
  throw std::runtime_error(options.model.string() + ": " + e.what());
}

void OpenvinoEngine::score(unsigned stream, const BatchInput& input, std::span<float> scores) try {
  auto& request = requests_.at(stream);
  const ov::Shape shape{input.rows, input.length};
  const auto tensor = [&](std::span<int64_t> values) { return ov::Tensor(ov::element::i64, shape, values.data()); };
  request.set_tensor("input_ids", tensor(input.ids));
  request.set_tensor("attention_mask", tensor(input.mask));
  if (has_type_ids_) request.set_tensor("token_type_ids", tensor(input.type_ids));
  request.infer();
  const auto output = request.get_output_tensor(0);
  if (output.get_size() != scores.size()) throw std::runtime_error("the model gave another number of scores than rows");
  std::copy_n(output.data<float>(), scores.size(), scores.begin());
} catch (const ov::Exception& e) {
  if (is_memory_shortage(e)) throw std::bad_alloc();
  throw;
}

}  // namespace ranking::openvino
