import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Words that the tiny encoder knows, each with its own embedding. */
export interface TinyEncoder {
  readonly folder: string;
  readonly words: readonly string[];
  readonly dimensions: number;
  /** Of the word of that index, after padding and the unknown word. */
  readonly vectorOf: (token: number) => readonly number[];
}

/**
 * Writes an encoder as operators supply them: `config.json`, `tokenizer.json`, `tokenizer_config.json` and `onnx/model.onnx`. The network
 * looks each token up in a table; that is its whole depth. Tokens 0 and 1 are padding and the unknown word.
 */
export function writeTinyEncoder({ folder, words, dimensions, vectorOf }: TinyEncoder): void {
  mkdirSync(join(folder, "onnx"), { recursive: true });
  const vocabulary = ["[PAD]", "[UNK]", ...words];
  const special = (content: string, id: number) => ({
    ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
  });
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [special("[PAD]", 0), special("[UNK]", 1)],
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Whitespace" },
    post_processor: null,
    decoder: null,
    model: { type: "WordLevel", vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])), unk_token: "[UNK]" },
  };
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  writeFileSync(
    join(folder, "tokenizer_config.json"),
    JSON.stringify({ tokenizer_class: "PreTrainedTokenizerFast", pad_token: "[PAD]", unk_token: "[UNK]", model_max_length: 8192 }),
  );
  writeFileSync(
    join(folder, "config.json"),
    JSON.stringify({ model_type: "bert", hidden_size: dimensions, vocab_size: vocabulary.length }),
  );
  const table = new Float32Array(vocabulary.length * dimensions);
  for (const token of vocabulary.keys()) table.set(token < 2 ? [] : vectorOf(token - 2), token * dimensions);
  writeFileSync(join(folder, "onnx", "model.onnx"), gatherModel(table, vocabulary.length, dimensions));
}

/** An ONNX file (protobuf, onnx.proto3) of a single Gather: `last_hidden_state` = rows of a table by `input_ids`. */
function gatherModel(table: Float32Array, rows: number, dimensions: number): Uint8Array {
  const INT64 = 7;
  const FLOAT = 1;
  const value = (name: string, elements: number, shape: readonly (string | number)[]) =>
    message(text(1, name), nested(2, nested(1, message(number(1, elements), nested(2, Buffer.concat(shape.map(dimension)))))));
  const dimension = (size: string | number) => nested(1, typeof size === "string" ? text(2, size) : number(1, size));
  const node = message(text(1, "table"), text(1, "input_ids"), text(2, "last_hidden_state"), text(3, "look-up"), text(4, "Gather"));
  const weights = message(number(1, rows), number(1, dimensions), number(2, FLOAT), text(8, "table"), nested(9, Buffer.from(table.buffer)));
  const graph = message(
    nested(1, node),
    text(2, "tiny"),
    nested(5, weights),
    nested(11, value("input_ids", INT64, ["batch", "tokens"])),
    nested(11, value("attention_mask", INT64, ["batch", "tokens"])),
    nested(12, value("last_hidden_state", FLOAT, ["batch", "tokens", dimensions])),
  );
  return message(number(1, 8), nested(7, graph), nested(8, message(text(1, ""), number(2, 13))));
}

const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

/** Fields of protobuf: the tag of a varint, and that of something with a length. */
const number = (field: number, value: number): Buffer => Buffer.concat([varint(field * 8), varint(value)]);
const nested = (field: number, body: Buffer): Buffer => Buffer.concat([varint(field * 8 + 2), varint(body.length), body]);
const text = (field: number, value: string): Buffer => nested(field, Buffer.from(value));
