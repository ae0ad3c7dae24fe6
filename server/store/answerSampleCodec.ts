import { gunzipSync, gzipSync } from "node:zlib";
import type { AnswerSample, SampledModel } from "@/solver/ensemble/replay/answerSample";

/** The stored form: each model's votes as indices into its list of distinct ones, -1 if there is none. */
interface WrittenSample {
  readonly questionIds: readonly string[];
  readonly categories?: readonly string[];
  readonly models: readonly {
    readonly model: string;
    readonly votes: readonly string[];
    readonly answers: readonly number[];
    readonly correct: string;
    readonly outputTokens: readonly number[];
    readonly asked: string;
  }[];
}

/** A sample as compressed JSON: two megabytes of four thousand questions and seventeen models become some two hundred kilobytes. */
export function encodeSample({ models, ...questions }: AnswerSample): Buffer {
  const written: WrittenSample = { ...questions, models: models.map(writtenModel) };
  return gzipSync(JSON.stringify(written));
}

export function decodeSample(data: Uint8Array): AnswerSample {
  const { models, ...questions } = JSON.parse(gunzipSync(data).toString("utf8")) as WrittenSample;
  return { ...questions, models: models.map(readModel) };
}

function writtenModel({ model, answers, correct, outputTokens, asked }: SampledModel): WrittenSample["models"][number] {
  const places = new Map<string, number>();
  const place = (vote: string): number => {
    const known = places.get(vote) ?? places.size;
    places.set(vote, known);
    return known;
  };
  const written = answers.map((vote) => (vote === null ? -1 : place(vote)));
  return {
    model,
    votes: [...places.keys()],
    answers: written,
    correct: bits(correct),
    outputTokens: [...outputTokens],
    asked: bits(asked),
  };
}

function readModel({ model, votes, answers, correct, outputTokens, asked }: WrittenSample["models"][number]): SampledModel {
  const read = answers.map((at) => votes[at] ?? null);
  return { model, answers: read, correct: ofBits(correct), outputTokens: Int32Array.from(outputTokens), asked: ofBits(asked) };
}

/** Compresses as well as packed bits would, and is human-readable. */
const bits = (flags: Uint8Array): string => flags.join("");

const ofBits = (text: string): Uint8Array => Uint8Array.from(text, Number);
