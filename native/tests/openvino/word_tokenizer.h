// A tokenizer of our own wording for tests without a model: lower-case words, one token each, [CLS] query [SEP] passage [SEP].
#pragma once

#include <string>

namespace ranking::openvino {

// Words w0 to w199 have the ids 0 to 199, "throw", "oom" and "nan" those of FakeEngine, [UNK] 203, [CLS] 204, [SEP] 205, [PAD]
// 206. It embeds padding to 300 and truncation to 5 tokens, which must be overridden.
inline std::string word_tokenizer_json() {
  std::string vocab;
  for (int i = 0; i < 200; ++i) vocab.append("\"w").append(std::to_string(i)).append("\":").append(std::to_string(i)).append(",");
  vocab += R"("throw":200,"oom":201,"nan":202,"[UNK]":203,"[CLS]":204,"[SEP]":205,"[PAD]":206)";
  return R"({"version":"1.0",
    "truncation":{"direction":"Right","max_length":5,"strategy":"OnlySecond","stride":0},
    "padding":{"strategy":{"Fixed":300},"direction":"Right","pad_to_multiple_of":null,"pad_id":206,"pad_type_id":0,"pad_token":"[PAD]"},
    "added_tokens":[{"id":205,"content":"[SEP]","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],
    "normalizer":null,"pre_tokenizer":{"type":"WhitespaceSplit"},
    "post_processor":{"type":"TemplateProcessing",
      "single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}}],
      "pair":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}},
              {"Sequence":{"id":"B","type_id":1}},{"SpecialToken":{"id":"[SEP]","type_id":1}}],
      "special_tokens":{"[CLS]":{"id":"[CLS]","ids":[204],"tokens":["[CLS]"]},"[SEP]":{"id":"[SEP]","ids":[205],"tokens":["[SEP]"]}}},
    "decoder":null,"model":{"type":"WordLevel","vocab":{)" +
         vocab + R"(},"unk_token":"[UNK]"}})";
}

// n words, each "w<word>".
inline std::string words(size_t n, int word = 1) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text.append(i ? " w" : "w").append(std::to_string(word));
  return text;
}

}  // namespace ranking::openvino
