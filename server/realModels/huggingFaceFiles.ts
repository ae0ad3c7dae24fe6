import type { Decoder } from "./decoder";
import { safetensorsFile } from "./safetensors";
import { BEGIN, CHAT_TEMPLATE, CONTROL_TOKENS, DROPPED, END, PAD, TOKENS } from "./vocabulary";

/** A decoder as the folder of a Hugging Face repository, which vLLM serves: file name -> content. */
export function huggingFaceFiles({ config, tensors }: Decoder): ReadonlyMap<string, Uint8Array> {
  const ids = { bos_token_id: BEGIN, eos_token_id: END, pad_token_id: PAD };
  const documents = {
    "config.json": { architectures: ["LlamaForCausalLM"], hidden_act: "silu", torch_dtype: "float32", ...config, ...ids },
    "generation_config.json": { ...ids, do_sample: false },
    "tokenizer.json": tokenizer(),
    "tokenizer_config.json": {
      tokenizer_class: "PreTrainedTokenizerFast",
      bos_token: TOKENS[BEGIN],
      eos_token: TOKENS[END],
      pad_token: TOKENS[PAD],
      model_max_length: config.max_position_embeddings,
      clean_up_tokenization_spaces: false,
      chat_template: CHAT_TEMPLATE,
    },
  };
  return new Map([
    ["model.safetensors", safetensorsFile(tensors)],
    ...Object.entries(documents).map(([name, value]) => [name, Buffer.from(`${JSON.stringify(value, null, 2)}\n`)] as const),
  ]);
}

/** One token a character, in the format of the `tokenizers` library; the begin token stands before a text. */
function tokenizer(): object {
  const special = TOKENS.slice(0, CONTROL_TOKENS);
  const begin = TOKENS[BEGIN] ?? "";
  const beginPart = { SpecialToken: { id: begin, type_id: 0 } };
  const textPart = (id: "A" | "B") => ({ Sequence: { id, type_id: 0 } });
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: special.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: { type: "Replace", pattern: { Regex: DROPPED }, content: "" },
    pre_tokenizer: { type: "Split", pattern: { Regex: "[\\s\\S]" }, behavior: "Isolated", invert: false },
    post_processor: {
      type: "TemplateProcessing",
      single: [beginPart, textPart("A")],
      pair: [beginPart, textPart("A"), textPart("B")],
      special_tokens: { [begin]: { id: begin, ids: [BEGIN], tokens: [begin] } },
    },
    decoder: { type: "Fuse" },
    model: { type: "WordLevel", vocab: Object.fromEntries(TOKENS.map((token, id) => [token, id])), unk_token: TOKENS[PAD] },
  };
}
