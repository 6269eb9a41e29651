// The same ABI as src/trtmc/abi.h, declared a second time from the table of layouts and under the ABI's public names: the double
// is built on this and never sees the other, so a slip in either shows. header_check.cpp compares the two, and compares abi.h
// with TRTMC's own <trtmc/trtmc.h> where that is installed. Only what a ranking caller can meet is here.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t trtmc_status;
enum {
  TRTMC_OK,
  TRTMC_END,
  TRTMC_INVALID_ARGUMENT,
  TRTMC_INVALID_CONFIG,
  TRTMC_UNSUPPORTED,
  TRTMC_VERSION_MISMATCH,
  TRTMC_OUT_OF_MEMORY,
  TRTMC_INTERNAL_ERROR,
  TRTMC_AGAIN,
  TRTMC_BUSY,
};
enum {
  TRTMC_CONFIG_I64 = 1,
  TRTMC_CONFIG_F64,
  TRTMC_CONFIG_BOOL,
  TRTMC_CONFIG_STRING,
  TRTMC_CONFIG_I64_LIST,
  TRTMC_CONFIG_F64_LIST,
  TRTMC_CONFIG_STRING_LIST,
};
enum { TRTMC_SCORE_LOGIT = 1, TRTMC_SCORE_PROBABILITY, TRTMC_SCORE_UNBOUNDED };

typedef struct trtmc_model trtmc_model;
typedef struct trtmc_result trtmc_result;
typedef struct trtmc_error trtmc_error;
typedef struct trtmc_bundle trtmc_bundle;

#define TRTMC_DOUBLE_VIEW(name, element) \
  typedef struct {                       \
    const element* data;                 \
    uint64_t size;                       \
  } name
TRTMC_DOUBLE_VIEW(trtmc_string_view, char);
TRTMC_DOUBLE_VIEW(trtmc_i64_view, int64_t);
TRTMC_DOUBLE_VIEW(trtmc_f64_view, double);
TRTMC_DOUBLE_VIEW(trtmc_strings_view, trtmc_string_view);
#undef TRTMC_DOUBLE_VIEW

typedef struct {
  uint32_t major, minor;
  uint64_t byte_size;
} trtmc_api_header;

typedef struct {
  uint64_t struct_size;
  trtmc_string_view runtime_root;
  uint64_t kv_cache_size_bytes;
  trtmc_string_view runtime_cache_path;
  uint32_t cuda_graphs;
} trtmc_load_options_v1;

typedef struct {
  trtmc_string_view family, backend, bundle_task;
} trtmc_model_info_v1;

typedef struct {
  trtmc_string_view id;
  uint32_t major, minor;
} trtmc_task_info_v1;

typedef struct {
  uint32_t kind;
  union {
    int64_t i64;
    double f64;
    uint32_t boolean;
    trtmc_string_view string;
    trtmc_i64_view i64_list;
    trtmc_f64_view f64_list;
    trtmc_strings_view string_list;
  } as;
} trtmc_config_value_v1;

typedef struct {
  trtmc_string_view name;
  trtmc_config_value_v1 value;
} trtmc_config_entry_v1;

typedef struct {
  const trtmc_config_entry_v1* entries;
  uint64_t count;
} trtmc_config_view_v1;

typedef struct {
  trtmc_string_view name;
  uint32_t kind, has_fixed_default;
  trtmc_config_value_v1 default_value;
  trtmc_string_view description;
} trtmc_config_field_v1;

typedef struct {
  trtmc_string_view query;
  trtmc_strings_view documents;
} trtmc_text_query_documents_to_relevance_request_v1;

typedef struct {
  const float* scores;
  uint64_t count;
  uint32_t kind;
} trtmc_document_relevance_view_v1;

typedef struct {
  trtmc_string_view query, document;
} trtmc_text_pair_to_relevance_request_v1;

typedef struct {
  float score;
  uint32_t kind;
} trtmc_relevance_view_v1;

typedef struct {
  trtmc_api_header header;
  trtmc_string_view (*runtime_version)(void);
  trtmc_status (*error_code)(const trtmc_error*);
  trtmc_string_view (*error_message)(const trtmc_error*);
  void (*error_release)(trtmc_error*);
  trtmc_status (*model_load)(trtmc_string_view, const trtmc_load_options_v1*, trtmc_model**, trtmc_error**);
  void (*model_release)(trtmc_model*);
  trtmc_status (*model_info)(const trtmc_model*, trtmc_model_info_v1*, trtmc_error**);
  trtmc_status (*model_task_count)(const trtmc_model*, uint64_t*, trtmc_error**);
  trtmc_status (*model_task_info)(const trtmc_model*, uint64_t, trtmc_task_info_v1*, trtmc_error**);
  trtmc_status (*model_get_task_api)(const trtmc_model*, trtmc_string_view, uint32_t, uint32_t, const trtmc_api_header**,
                                     trtmc_error**);
  trtmc_status (*config_field_count)(const trtmc_model*, trtmc_string_view, uint32_t, uint32_t, uint64_t*, trtmc_error**);
  trtmc_status (*config_field_info)(const trtmc_model*, trtmc_string_view, uint32_t, uint32_t, uint64_t, trtmc_config_field_v1*,
                                    trtmc_error**);
  void (*result_release)(trtmc_result*);
  // A ranking caller has no use for these; the double leaves them null.
  trtmc_status (*bundle_open)(trtmc_string_view, trtmc_bundle**, trtmc_error**);
  void (*bundle_release)(trtmc_bundle*);
  trtmc_status (*bundle_info)(const trtmc_bundle*, void*, trtmc_error**);
  trtmc_status (*bundle_read_section)(const trtmc_bundle*, trtmc_string_view, trtmc_result**, trtmc_error**);
  trtmc_status (*bytes_result_view)(const trtmc_result*, void*, trtmc_error**);
  trtmc_status (*byok_load)(const void*, trtmc_error**);
  trtmc_status (*model_get_lora_api)(const trtmc_model*, uint32_t, uint32_t, const void**, trtmc_error**);
} trtmc_core_api_v1;

typedef struct {
  trtmc_api_header header;
  trtmc_status (*run)(trtmc_model*, const trtmc_text_query_documents_to_relevance_request_v1*, const trtmc_config_view_v1*,
                      trtmc_result**, trtmc_error**);
  trtmc_status (*result_view)(const trtmc_result*, trtmc_document_relevance_view_v1*, trtmc_error**);
} trtmc_text_query_documents_to_relevance_api_v1;

typedef struct {
  trtmc_api_header header;
  trtmc_status (*run)(trtmc_model*, const trtmc_text_pair_to_relevance_request_v1*, const trtmc_config_view_v1*, trtmc_result**,
                      trtmc_error**);
  trtmc_status (*result_view)(const trtmc_result*, trtmc_relevance_view_v1*, trtmc_error**);
} trtmc_text_pair_to_relevance_api_v1;

#ifdef __cplusplus
}
#endif
