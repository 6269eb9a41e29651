// The part of the TRTMC C ABI, version 1.0, that this Task calls: our own declarations, written from a table of its layouts.
//
// LP64, little endian, natural alignment. Every size and offset of that table is asserted below, so that a slip here does not
// compile; header_check.cpp compares the same declarations with TRTMC's own headers where those are installed. Every call that
// fails hands out an owned error detail, or null where none could be allocated; see handles.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ranking::trtmc::abi {

inline constexpr uint32_t kMajor = 1;
inline constexpr uint32_t kMinor = 0;
inline constexpr char kLibraryName[] = "libtrtmc_c.so.1";
inline constexpr char kEntrySymbol[] = "trtmc_get_api";

inline constexpr char kDocumentsTask[] = "text_query_documents_to_relevance";
inline constexpr char kPairTask[] = "text_pair_to_relevance";

// May hold a value outside of this list: a newer runtime.
enum class Status : int32_t {
  kOk = 0,
  kEnd = 1,
  kInvalidArgument = 2,
  kInvalidConfig = 3,
  kUnsupported = 4,
  kVersionMismatch = 5,
  kOutOfMemory = 6,
  kInternalError = 7,
  kAgain = 8,
  kBusy = 9,
};

enum class ConfigKind : uint32_t { kI64 = 1, kF64 = 2, kBool = 3, kString = 4, kI64List = 5, kF64List = 6, kStringList = 7 };

enum class ScoreKind : uint32_t { kLogit = 1, kProbability = 2, kUnbounded = 3 };

// Opaque, owned through handles.h.
struct Model;
struct Result;
struct Error;
struct Bundle;

// Named by functions that this Task never calls.
struct BundleInfo;
struct BytesView;
struct ByokOptions;
struct LoraApi;

// UTF-8, not NUL-terminated; null with size 0 is the empty string.
struct StringView {
  const char* data;
  uint64_t size;
};

template <typename T>
struct ArrayView {
  const T* data;
  uint64_t size;
};

// Stands first in every table. byte_size is that of the whole table; a larger one than ours is a newer minor.
struct ApiHeader {
  uint32_t major;
  uint32_t minor;
  uint64_t byte_size;
};

struct LoadOptions {
  uint64_t struct_size;
  StringView runtime_root;
  uint64_t kv_cache_size_bytes;
  StringView runtime_cache_path;
  uint32_t cuda_graphs;
};

struct ModelInfo {
  StringView family;
  StringView backend;
  StringView bundle_task;
};

struct TaskInfo {
  StringView id;
  uint32_t major;
  uint32_t minor;
};

struct ConfigValue {
  ConfigKind kind;
  union {
    int64_t i64;
    double f64;
    uint32_t boolean;  // 0 or 1
    StringView string;
    ArrayView<int64_t> i64_list;
    ArrayView<double> f64_list;
    ArrayView<StringView> string_list;
  } as;
};

struct ConfigEntry {
  StringView name;
  ConfigValue value;
};

struct ConfigView {
  const ConfigEntry* entries;
  uint64_t count;
};

struct ConfigField {
  StringView name;
  ConfigKind kind;
  uint32_t has_fixed_default;
  ConfigValue default_value;
  StringView description;
};

struct DocumentsRequest {
  StringView query;
  ArrayView<StringView> documents;
};

struct DocumentsScores {
  const float* scores;  // in the order of the documents
  uint64_t count;
  ScoreKind kind;
};

struct PairRequest {
  StringView query;
  StringView document;
};

struct PairScore {
  float score;
  ScoreKind kind;
};

struct CoreApi {
  ApiHeader header;
  StringView (*runtime_version)();
  Status (*error_code)(const Error*);
  StringView (*error_message)(const Error*);
  void (*error_release)(Error*);
  Status (*model_load)(StringView bundle_path, const LoadOptions*, Model**, Error**);
  void (*model_release)(Model*);
  Status (*model_info)(const Model*, ModelInfo*, Error**);
  Status (*model_task_count)(const Model*, uint64_t*, Error**);
  Status (*model_task_info)(const Model*, uint64_t index, TaskInfo*, Error**);
  Status (*model_get_task_api)(const Model*, StringView task, uint32_t major, uint32_t minor, const ApiHeader**, Error**);
  Status (*config_field_count)(const Model*, StringView task, uint32_t major, uint32_t minor, uint64_t*, Error**);
  Status (*config_field_info)(const Model*, StringView task, uint32_t major, uint32_t minor, uint64_t index, ConfigField*,
                              Error**);
  void (*result_release)(Result*);
  Status (*bundle_open)(StringView path, Bundle**, Error**);
  void (*bundle_release)(Bundle*);
  Status (*bundle_info)(const Bundle*, BundleInfo*, Error**);
  Status (*bundle_read_section)(const Bundle*, StringView name, Result**, Error**);
  Status (*bytes_result_view)(const Result*, BytesView*, Error**);
  Status (*byok_load)(const ByokOptions*, Error**);
  Status (*model_get_lora_api)(const Model*, uint32_t major, uint32_t minor, const LoraApi**, Error**);
};

// Both ranking Tasks have tables of this shape.
template <typename Request, typename View>
struct TaskApi {
  ApiHeader header;
  Status (*run)(Model*, const Request*, const ConfigView* config_or_null, Result**, Error**);
  Status (*result_view)(const Result*, View*, Error**);
};
using DocumentsApi = TaskApi<DocumentsRequest, DocumentsScores>;
using PairApi = TaskApi<PairRequest, PairScore>;

// The one exported symbol.
using GetApi = Status (*)(uint32_t major, uint32_t minor, const CoreApi** out);

#define RANKING_SIZE(type, size) static_assert(sizeof(type) == (size), #type)
#define RANKING_AT(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field)

RANKING_SIZE(Status, 4);
RANKING_SIZE(ConfigKind, 4);
RANKING_SIZE(ScoreKind, 4);
RANKING_SIZE(StringView, 16);
RANKING_AT(StringView, data, 0);
RANKING_AT(StringView, size, 8);
RANKING_SIZE(ArrayView<StringView>, 16);
RANKING_AT(ArrayView<StringView>, data, 0);
RANKING_AT(ArrayView<StringView>, size, 8);
RANKING_SIZE(ApiHeader, 16);
RANKING_AT(ApiHeader, major, 0);
RANKING_AT(ApiHeader, minor, 4);
RANKING_AT(ApiHeader, byte_size, 8);
RANKING_SIZE(LoadOptions, 56);
RANKING_AT(LoadOptions, struct_size, 0);
RANKING_AT(LoadOptions, runtime_root, 8);
RANKING_AT(LoadOptions, kv_cache_size_bytes, 24);
RANKING_AT(LoadOptions, runtime_cache_path, 32);
RANKING_AT(LoadOptions, cuda_graphs, 48);
RANKING_SIZE(ModelInfo, 48);
RANKING_AT(ModelInfo, family, 0);
RANKING_AT(ModelInfo, backend, 16);
RANKING_AT(ModelInfo, bundle_task, 32);
RANKING_SIZE(TaskInfo, 24);
RANKING_AT(TaskInfo, id, 0);
RANKING_AT(TaskInfo, major, 16);
RANKING_AT(TaskInfo, minor, 20);
RANKING_SIZE(ConfigValue, 24);
RANKING_AT(ConfigValue, kind, 0);
RANKING_AT(ConfigValue, as, 8);
RANKING_SIZE(ConfigEntry, 40);
RANKING_AT(ConfigEntry, name, 0);
RANKING_AT(ConfigEntry, value, 16);
RANKING_SIZE(ConfigView, 16);
RANKING_AT(ConfigView, entries, 0);
RANKING_AT(ConfigView, count, 8);
RANKING_SIZE(ConfigField, 64);
RANKING_AT(ConfigField, name, 0);
RANKING_AT(ConfigField, kind, 16);
RANKING_AT(ConfigField, has_fixed_default, 20);
RANKING_AT(ConfigField, default_value, 24);
RANKING_AT(ConfigField, description, 48);
RANKING_SIZE(DocumentsRequest, 32);
RANKING_AT(DocumentsRequest, query, 0);
RANKING_AT(DocumentsRequest, documents, 16);
RANKING_SIZE(DocumentsScores, 24);
RANKING_AT(DocumentsScores, scores, 0);
RANKING_AT(DocumentsScores, count, 8);
RANKING_AT(DocumentsScores, kind, 16);
RANKING_SIZE(PairRequest, 32);
RANKING_AT(PairRequest, query, 0);
RANKING_AT(PairRequest, document, 16);
RANKING_SIZE(PairScore, 8);
RANKING_AT(PairScore, score, 0);
RANKING_AT(PairScore, kind, 4);
RANKING_SIZE(CoreApi, 176);
RANKING_AT(CoreApi, header, 0);
RANKING_AT(CoreApi, runtime_version, 16);
RANKING_AT(CoreApi, error_code, 24);
RANKING_AT(CoreApi, error_message, 32);
RANKING_AT(CoreApi, error_release, 40);
RANKING_AT(CoreApi, model_load, 48);
RANKING_AT(CoreApi, model_release, 56);
RANKING_AT(CoreApi, model_info, 64);
RANKING_AT(CoreApi, model_task_count, 72);
RANKING_AT(CoreApi, model_task_info, 80);
RANKING_AT(CoreApi, model_get_task_api, 88);
RANKING_AT(CoreApi, config_field_count, 96);
RANKING_AT(CoreApi, config_field_info, 104);
RANKING_AT(CoreApi, result_release, 112);
RANKING_AT(CoreApi, bundle_open, 120);
RANKING_AT(CoreApi, bundle_release, 128);
RANKING_AT(CoreApi, bundle_info, 136);
RANKING_AT(CoreApi, bundle_read_section, 144);
RANKING_AT(CoreApi, bytes_result_view, 152);
RANKING_AT(CoreApi, byok_load, 160);
RANKING_AT(CoreApi, model_get_lora_api, 168);
RANKING_SIZE(DocumentsApi, 32);
RANKING_AT(DocumentsApi, header, 0);
RANKING_AT(DocumentsApi, run, 16);
RANKING_AT(DocumentsApi, result_view, 24);
RANKING_SIZE(PairApi, 32);
RANKING_AT(PairApi, header, 0);
RANKING_AT(PairApi, run, 16);
RANKING_AT(PairApi, result_view, 24);

#undef RANKING_SIZE
#undef RANKING_AT

}  // namespace ranking::trtmc::abi
