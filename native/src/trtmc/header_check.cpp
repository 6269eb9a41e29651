// Compiles only if abi.h agrees with <trtmc/trtmc.h>: TRTMC's own where its SDK is installed, and always the test double's.
#include <trtmc/trtmc.h>

#include <type_traits>

#include "trtmc/abi.h"

namespace ranking::trtmc::abi {
namespace {

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs), #theirs)
#define SAME_FIELD(ours, theirs, field)                                                                           \
  static_assert(offsetof(ours, field) == offsetof(theirs, field) && sizeof(ours::field) == sizeof(theirs::field), \
                #theirs "." #field)
#define SAME_VALUE(ours, theirs) static_assert(static_cast<int64_t>(ours) == static_cast<int64_t>(theirs), #theirs)

// NOLINTBEGIN(bugprone-sizeof-expression): pointers are meant
// Two function pointers are alike if they take as many arguments and each has the same size and the same kind; the types
// themselves have other names here.
template <typename A, typename B>
constexpr bool alike() {
  if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
    return std::is_void_v<A> && std::is_void_v<B>;
  } else {
    return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> && std::is_class_v<A> == std::is_class_v<B>;
  }
}
template <typename A, typename B>
struct SameCall : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
requires(sizeof...(A) == sizeof...(B)) struct SameCall<R (*)(A...), S (*)(B...)>
    : std::bool_constant<alike<R, S>() && (alike<A, B>() && ...)> {
};

#define SAME_CALL(ours, theirs, field) \
  SAME_FIELD(ours, theirs, field);     \
  static_assert(SameCall<decltype(ours::field), decltype(theirs::field)>::value, #theirs "." #field)

SAME_VALUE(Status::kOk, TRTMC_OK);
SAME_VALUE(Status::kEnd, TRTMC_END);
SAME_VALUE(Status::kInvalidArgument, TRTMC_INVALID_ARGUMENT);
SAME_VALUE(Status::kInvalidConfig, TRTMC_INVALID_CONFIG);
SAME_VALUE(Status::kUnsupported, TRTMC_UNSUPPORTED);
SAME_VALUE(Status::kVersionMismatch, TRTMC_VERSION_MISMATCH);
SAME_VALUE(Status::kOutOfMemory, TRTMC_OUT_OF_MEMORY);
SAME_VALUE(Status::kInternalError, TRTMC_INTERNAL_ERROR);
SAME_VALUE(Status::kAgain, TRTMC_AGAIN);
SAME_VALUE(Status::kBusy, TRTMC_BUSY);
SAME_VALUE(ConfigKind::kI64, TRTMC_CONFIG_I64);
SAME_VALUE(ConfigKind::kF64, TRTMC_CONFIG_F64);
SAME_VALUE(ConfigKind::kBool, TRTMC_CONFIG_BOOL);
SAME_VALUE(ConfigKind::kString, TRTMC_CONFIG_STRING);
SAME_VALUE(ConfigKind::kI64List, TRTMC_CONFIG_I64_LIST);
SAME_VALUE(ConfigKind::kF64List, TRTMC_CONFIG_F64_LIST);
SAME_VALUE(ConfigKind::kStringList, TRTMC_CONFIG_STRING_LIST);
SAME_VALUE(ScoreKind::kLogit, TRTMC_SCORE_LOGIT);
SAME_VALUE(ScoreKind::kProbability, TRTMC_SCORE_PROBABILITY);
SAME_VALUE(ScoreKind::kUnbounded, TRTMC_SCORE_UNBOUNDED);

SAME_SIZE(Status, trtmc_status);
SAME_SIZE(StringView, trtmc_string_view);
SAME_FIELD(StringView, trtmc_string_view, data);
SAME_FIELD(StringView, trtmc_string_view, size);
SAME_SIZE(ArrayView<StringView>, trtmc_strings_view);
SAME_FIELD(ArrayView<StringView>, trtmc_strings_view, data);
SAME_FIELD(ArrayView<StringView>, trtmc_strings_view, size);

SAME_SIZE(ApiHeader, trtmc_api_header);
SAME_FIELD(ApiHeader, trtmc_api_header, major);
SAME_FIELD(ApiHeader, trtmc_api_header, minor);
SAME_FIELD(ApiHeader, trtmc_api_header, byte_size);

SAME_SIZE(LoadOptions, trtmc_load_options_v1);
SAME_FIELD(LoadOptions, trtmc_load_options_v1, struct_size);
SAME_FIELD(LoadOptions, trtmc_load_options_v1, runtime_root);
SAME_FIELD(LoadOptions, trtmc_load_options_v1, kv_cache_size_bytes);
SAME_FIELD(LoadOptions, trtmc_load_options_v1, runtime_cache_path);
SAME_FIELD(LoadOptions, trtmc_load_options_v1, cuda_graphs);

SAME_SIZE(ModelInfo, trtmc_model_info_v1);
SAME_FIELD(ModelInfo, trtmc_model_info_v1, family);
SAME_FIELD(ModelInfo, trtmc_model_info_v1, backend);
SAME_FIELD(ModelInfo, trtmc_model_info_v1, bundle_task);

SAME_SIZE(TaskInfo, trtmc_task_info_v1);
SAME_FIELD(TaskInfo, trtmc_task_info_v1, id);
SAME_FIELD(TaskInfo, trtmc_task_info_v1, major);
SAME_FIELD(TaskInfo, trtmc_task_info_v1, minor);

SAME_SIZE(ConfigValue, trtmc_config_value_v1);
SAME_FIELD(ConfigValue, trtmc_config_value_v1, kind);
SAME_FIELD(ConfigValue, trtmc_config_value_v1, as);
SAME_SIZE(ConfigEntry, trtmc_config_entry_v1);
SAME_FIELD(ConfigEntry, trtmc_config_entry_v1, name);
SAME_FIELD(ConfigEntry, trtmc_config_entry_v1, value);
SAME_SIZE(ConfigView, trtmc_config_view_v1);
SAME_FIELD(ConfigView, trtmc_config_view_v1, entries);
SAME_FIELD(ConfigView, trtmc_config_view_v1, count);
SAME_SIZE(ConfigField, trtmc_config_field_v1);
SAME_FIELD(ConfigField, trtmc_config_field_v1, name);
SAME_FIELD(ConfigField, trtmc_config_field_v1, kind);
SAME_FIELD(ConfigField, trtmc_config_field_v1, has_fixed_default);
SAME_FIELD(ConfigField, trtmc_config_field_v1, default_value);
SAME_FIELD(ConfigField, trtmc_config_field_v1, description);

SAME_SIZE(DocumentsRequest, trtmc_text_query_documents_to_relevance_request_v1);
SAME_FIELD(DocumentsRequest, trtmc_text_query_documents_to_relevance_request_v1, query);
SAME_FIELD(DocumentsRequest, trtmc_text_query_documents_to_relevance_request_v1, documents);
SAME_SIZE(DocumentsScores, trtmc_document_relevance_view_v1);
SAME_FIELD(DocumentsScores, trtmc_document_relevance_view_v1, scores);
SAME_FIELD(DocumentsScores, trtmc_document_relevance_view_v1, count);
SAME_FIELD(DocumentsScores, trtmc_document_relevance_view_v1, kind);
SAME_SIZE(PairRequest, trtmc_text_pair_to_relevance_request_v1);
SAME_FIELD(PairRequest, trtmc_text_pair_to_relevance_request_v1, query);
SAME_FIELD(PairRequest, trtmc_text_pair_to_relevance_request_v1, document);
SAME_SIZE(PairScore, trtmc_relevance_view_v1);
SAME_FIELD(PairScore, trtmc_relevance_view_v1, score);
SAME_FIELD(PairScore, trtmc_relevance_view_v1, kind);

SAME_SIZE(CoreApi, trtmc_core_api_v1);
SAME_CALL(CoreApi, trtmc_core_api_v1, runtime_version);
SAME_CALL(CoreApi, trtmc_core_api_v1, error_code);
SAME_CALL(CoreApi, trtmc_core_api_v1, error_message);
SAME_CALL(CoreApi, trtmc_core_api_v1, error_release);
SAME_CALL(CoreApi, trtmc_core_api_v1, model_load);
SAME_CALL(CoreApi, trtmc_core_api_v1, model_release);
SAME_CALL(CoreApi, trtmc_core_api_v1, model_info);
SAME_CALL(CoreApi, trtmc_core_api_v1, model_task_count);
SAME_CALL(CoreApi, trtmc_core_api_v1, model_task_info);
SAME_CALL(CoreApi, trtmc_core_api_v1, model_get_task_api);
SAME_CALL(CoreApi, trtmc_core_api_v1, config_field_count);
SAME_CALL(CoreApi, trtmc_core_api_v1, config_field_info);
SAME_CALL(CoreApi, trtmc_core_api_v1, result_release);
SAME_CALL(CoreApi, trtmc_core_api_v1, bundle_open);
SAME_CALL(CoreApi, trtmc_core_api_v1, bundle_release);
SAME_CALL(CoreApi, trtmc_core_api_v1, bundle_info);
SAME_CALL(CoreApi, trtmc_core_api_v1, bundle_read_section);
SAME_CALL(CoreApi, trtmc_core_api_v1, bytes_result_view);
SAME_CALL(CoreApi, trtmc_core_api_v1, byok_load);
SAME_CALL(CoreApi, trtmc_core_api_v1, model_get_lora_api);

SAME_SIZE(DocumentsApi, trtmc_text_query_documents_to_relevance_api_v1);
SAME_CALL(DocumentsApi, trtmc_text_query_documents_to_relevance_api_v1, run);
SAME_CALL(DocumentsApi, trtmc_text_query_documents_to_relevance_api_v1, result_view);
SAME_SIZE(PairApi, trtmc_text_pair_to_relevance_api_v1);
SAME_CALL(PairApi, trtmc_text_pair_to_relevance_api_v1, run);
SAME_CALL(PairApi, trtmc_text_pair_to_relevance_api_v1, result_view);

// NOLINTEND(bugprone-sizeof-expression)

}  // namespace
}  // namespace ranking::trtmc::abi
