import { describe, expect, it } from "vitest";
import { createMask, looksLikeKey } from "./secrets";

const mask = createMask(["correct horse battery", "horse", "ab/cd+ef", "INFO", "first line of a file\nsecond line of a file"]);

describe("hiding keys", () => {
  it.each([
    ["a value, also as part of an address", "at https://x/?k=ab%2Fcd%2Bef and ab/cd+ef.", "at https://x/?k=*** and ***."],
    ["a value that begins with another whole", "correct horse battery!", "***!"],
    ["each line of a value", "read: second line of a file", "read: ***"],
    ["a Hugging Face token", "token hf_AbCdEfGhIjKl refused", "token *** refused"],
    ["an OpenAI key", "key=sk-proj-abcdefgh1234", "key=***"],
    ["what follows Bearer", 'header "authorization": "Bearer abc.def-1234"', 'header "authorization": "Bearer ***"'],
    ["a password in an address", "https://me:pass@proxy:3128/", "https://me:***@proxy:3128/"],
    ["a variable that is named after one", "WANDB_API_KEY=0123abcd HF_TOKEN: xyzw1234", "WANDB_API_KEY=*** HF_TOKEN: ***"],
    ["vLLM's list of its arguments", "{'api_key': 'token-abc123', 'port': 8000}", "{'api_key': '***', 'port': 8000}"],
    ["a private key", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nnext", "***\nnext"],
  ])("hides %s", (_, text, shown) => {
    expect(mask(text)).toBe(shown);
  });

  it.each([
    "INFO 07-29 15:58:06 [core.py:235] max_num_batched_tokens=8192, eos_token: <|im_end|>",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 79.11 GiB",
    "OSError: [Errno 98] error while attempting to bind on address ('127.0.0.1', 8101)",
    "ValueError: The model's max seq len (131072) is larger than the KV cache. Try --max-model-len. See task-runner desk-setup",
  ])("leaves what an operator must read: %s", (line) => {
    expect(mask(line)).toBe(line);
  });

  it("knows keys that stand where none belongs", () => {
    expect(looksLikeKey("--token=hf_AbCdEfGhIjKl")).toBe(true);
    expect(looksLikeKey("--max-model-len=8192")).toBe(false);
  });
});
