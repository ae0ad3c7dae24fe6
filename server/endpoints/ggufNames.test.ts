import { describe, expect, it } from "vitest";
import { findModel } from "@/solver/hardware/aliases";
import { ggufPrecision, spellings } from "./ggufNames";

describe("names of GGUF models", () => {
  it.each([
    ["Q4_K - Medium", "int4"],
    ["Q4_K_M", "int4"],
    ["IQ4_XS - 4.25 bpw", "int4"],
    ["MXFP4 MoE", "int4"],
    ["Q8_0", "fp8"],
    ["all F16", "bf16"],
    ["BF16", "bf16"],
    ["all F32", null],
    ["Q5_K - Small", null],
    ["Q6_K", null],
    ["", null],
  ])("reads the weights' precision of %s, and none where no card's is near", (name, precision) => {
    expect(ggufPrecision(name)).toBe(precision);
  });

  it.each([
    ["models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "llama-3.1-8b"],
    ["Qwen2.5-7B-Instruct-IQ4_XS.gguf", "qwen2.5-7b"],
    ["C:\\models\\Qwen2.5-7B-Instruct-f16.gguf", "qwen2.5-7b"],
    ["llama3.1:8b", "llama-3.1-8b"],
    ["qwen2.5:7b-instruct-q4_K_M", "qwen2.5-7b"],
  ])("finds the card of %s", (name, card) => {
    expect(spellings(name).map((one) => findModel(one)?.card.id)).toContain(card);
  });

  it("has no other spelling of a name that is whole, and none that is empty", () => {
    expect(spellings("my-model")).toEqual([]);
    expect(spellings(":")).not.toContain("");
  });
});
