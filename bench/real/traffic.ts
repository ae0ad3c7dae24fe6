import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { arrivals } from "@/solver/engine/arrivals";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { data } from "../lib/compareData";

/** Prompt and answer tokens of one request. */
export interface Lengths {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Requests of an open loop: arrivals at a rate, and lengths that are drawn for each. */
export interface Traffic {
  readonly name: string;
  readonly says: string;
  /** Lengths that a user would know beforehand, to plan with. */
  readonly known: readonly Lengths[];
  /** Other lengths of the same distribution, to send. */
  drawn(count: number, seed: number): readonly Lengths[];
  /** Whether arrivals are those of a record. */
  readonly isReplayed: boolean;
  /** Unscaled arrivals from 0, to send. Of a record they are a part of its second half. */
  arrivals(count: number, seed: number): Float64Array;
  /** Arrivals that a user would know beforehand: others of the same law, or the first half of the record. */
  readonly knownArrivals: Float64Array;
}

const KNOWN = 600;
const KNOWN_ARRIVALS = 12_000;

const drawnArrivals = (requests: number, seed: number): Float64Array =>
  arrivals({ law: { kind: "poisson" }, requests, requestsPerSecond: 1, seed });

/** Poisson arrivals, lengths within ranges. */
function poisson(): Traffic {
  const lengths = (count: number, seed: number): readonly Lengths[] => {
    const random = seededRandom(mixSeed("lengths", seed));
    const within = (least: number, most: number): number => Math.round(least + (most - least) * random.next());
    return Array.from({ length: count }, () => ({ inputTokens: within(24, 90), outputTokens: within(6, 34) }));
  };
  return {
    name: "poisson",
    says: "Poisson arrivals, 24 to 90 tokens in, 6 to 34 out, evenly",
    ...{ known: lengths(KNOWN, 1), isReplayed: false },
    drawn: (count, seed) => lengths(count, seed + 1),
    arrivals: drawnArrivals,
    knownArrivals: drawnArrivals(KNOWN_ARRIVALS, 77),
  };
}

interface Replayed {
  readonly name: string;
  readonly file: string;
  /** Recorded tokens for each sent. */
  readonly shorter: Lengths;
  readonly most: Lengths;
}

/** Azure's traces, their lengths made to fit a context of 2048 tokens and seconds of a small model. */
const REPLAYED: readonly Replayed[] = [
  {
    name: "conversation",
    file: "AzureLLMInferenceTrace_conv.csv",
    shorter: { inputTokens: 16, outputTokens: 10 },
    most: { inputTokens: 256, outputTokens: 64 },
  },
  {
    name: "code",
    file: "AzureLLMInferenceTrace_code.csv",
    shorter: { inputTokens: 12, outputTokens: 3 },
    most: { inputTokens: 384, outputTokens: 32 },
  },
];

function replay({ name, file, shorter, most }: Replayed): Traffic | null {
  const path = join(data, "traces", file);
  if (!existsSync(path)) return null;
  const [, ...lines] = readFileSync(path, "utf8").trim().split(/\r?\n/);
  const rows = lines.map((line) => {
    const [time = "", input = "", output = ""] = line.split(",");
    return {
      seconds: Date.parse(`${time.replace(" ", "T").slice(0, 23)}Z`) / 1000,
      inputTokens: scaled(Number(input), shorter.inputTokens, most.inputTokens),
      outputTokens: scaled(Number(output), shorter.outputTokens, most.outputTokens),
    };
  });
  const half = rows.length >> 1;
  const since = (part: typeof rows): Float64Array => Float64Array.from(part, ({ seconds }) => seconds - (part[0]?.seconds ?? 0));
  const lengths = (count: number, seed: number): readonly Lengths[] => {
    const random = seededRandom(mixSeed(name, seed));
    return Array.from({ length: count }, () => rows[random.int(rows.length)] ?? { inputTokens: 1, outputTokens: 1 });
  };
  return {
    name,
    says: `arrivals and lengths of ${file}, tokens divided by ${shorter.inputTokens} in and ${shorter.outputTokens} out, ${most.inputTokens} and ${most.outputTokens} at most`,
    ...{ known: lengths(KNOWN, 1), isReplayed: true },
    drawn: (count, seed) => lengths(count, seed + 1),
    arrivals(count, seed) {
      // Each run replays another part.
      const from = half + seededRandom(mixSeed(name, "part", seed)).int(Math.max(1, rows.length - half - count));
      return since(rows.slice(from, from + count));
    },
    knownArrivals: since(rows.slice(0, half)),
  };
}

const scaled = (tokens: number, divisor: number, most: number): number => Math.max(2, Math.min(most, Math.round(tokens / divisor)));

/** The kinds of traffic; replayed records are left out where they are missing. */
export const traffics = (): readonly Traffic[] => [poisson(), ...REPLAYED.flatMap((one) => replay(one) ?? [])];

/** Arrivals divided by a constant so that their mean rate is the given one. */
export function atMeanRate(unscaled: Float64Array, requestsPerSecond: number): Float64Array {
  const span = unscaled.at(-1) ?? 0;
  const factor = span > 0 ? (unscaled.length - 1) / requestsPerSecond / span : 0;
  return unscaled.map((seconds) => seconds * factor);
}

/** A completion request of random tokens, so that no prefix is cached, whose answer has exactly its length. */
export function completionBody(model: string, { inputTokens, outputTokens }: Lengths, seed: number): string {
  const random = seededRandom(mixSeed("tokens", seed));
  // Tokens of printable characters in the models' vocabulary.
  const prompt = Array.from({ length: inputTokens }, () => 3 + random.int(95));
  return JSON.stringify({
    ...{ model, prompt, max_tokens: outputTokens, min_tokens: outputTokens, ignore_eos: true, temperature: 0 },
    ...{ stream: true, stream_options: { include_usage: true } },
  });
}
