import type { Exploration, Routing } from "./exploration";

/** Fields that are JSON as they are. */
type Plain = Omit<Exploration, "routings" | "stageP95" | "tableOffset" | "endToEndWeight" | "endToEndJudgeSeconds">;

/**
 * An exploration as JSON. Routings become columns, and the tables base64 of little-endian 32-bit values: exact, a third of the
 * size of decimal digits, and Infinity survives, which JSON numbers would turn into null.
 */
export interface ExplorationWire extends Plain {
  readonly [field: string]: unknown;
  readonly routings: readonly (readonly [
    stages: readonly number[],
    thresholds: readonly number[],
    share: readonly number[],
    quality: number,
    low: number,
    startBelow: Routing["startBelow"],
    /** Empty where all start at the first stage. */
    startShare: readonly number[],
    /** Judge calls of a request and rows of tables; empty where the judge is the gate. */
    gated: readonly [judgements: number, rows: number] | readonly [],
  ])[];
  /** By routing, where any has hosted stages; null for one without. */
  readonly hosted: readonly (NonNullable<Routing["hosted"]> | null)[];
  readonly stageP95: string;
  readonly tableOffset: string;
  readonly endToEndWeight: string;
  readonly endToEndJudgeSeconds: string;
}

const plainOf = ({ models, requestsPerSecond, maxGpus, leastGpus, usdPerGpuHour, judge, qualityConfidence }: Plain): Plain => ({
  ...{ models, requestsPerSecond, maxGpus, leastGpus, usdPerGpuHour, judge, qualityConfidence },
});

/** Plain JSON for the browser. */
export function encodeExploration(exploration: Exploration): ExplorationWire {
  return {
    ...plainOf(exploration),
    routings: exploration.routings.map((routing) => {
      const { stages, thresholds, share, quality, qualityLow, startBelow, startShare, judgements, rows } = routing;
      const gated = judgements === undefined || rows === undefined ? ([] as const) : ([judgements, rows] as const);
      return [stages, thresholds, share, quality, qualityLow, startBelow, startShare ?? [], gated];
    }),
    hosted: exploration.routings.some(({ hosted }) => hosted !== undefined) ? exploration.routings.map(({ hosted = null }) => hosted) : [],
    stageP95: toBase64(exploration.stageP95),
    tableOffset: toBase64(exploration.tableOffset),
    endToEndWeight: toBase64(exploration.endToEndWeight),
    endToEndJudgeSeconds: toBase64(exploration.endToEndJudgeSeconds),
  };
}

/** The exploration that was encoded. Throws when the document is not one: both ends are the same build. */
export function decodeExploration(document: Readonly<Record<string, unknown>>): Exploration {
  const wire = document as unknown as ExplorationWire;
  if (typeof wire.stageP95 !== "string" || !Array.isArray(wire.routings)) throw new Error("This is not an encoded exploration.");
  return {
    ...plainOf(wire),
    routings: wire.routings.map(
      ([stages, thresholds, share, quality, qualityLow, startBelow, startShare, [judgements, rows]], index): Routing => ({
        stages,
        thresholds,
        startBelow,
        quality,
        qualityLow,
        share,
        ...(startShare.length === 0 ? {} : { startShare }),
        ...(judgements === undefined || rows === undefined ? {} : { judgements, rows }),
        ...withHosted(wire.hosted[index]),
      }),
    ),
    stageP95: new Float32Array(fromBase64(wire.stageP95)),
    tableOffset: new Int32Array(fromBase64(wire.tableOffset)),
    endToEndWeight: new Float32Array(fromBase64(wire.endToEndWeight)),
    endToEndJudgeSeconds: new Float32Array(fromBase64(wire.endToEndJudgeSeconds)),
  };
}

const withHosted = (hosted: ExplorationWire["hosted"][number] | undefined): Pick<Routing, "hosted"> =>
  hosted === null || hosted === undefined ? {} : { hosted };

/** `String.fromCharCode` takes its characters as arguments; JavaScript engines limit these to some ten thousand. */
const CHUNK = 8192;

function toBase64(values: Float32Array | Int32Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

function fromBase64(text: string): ArrayBuffer {
  const bytes = atob(text);
  const buffer = new ArrayBuffer(bytes.length);
  const view = new Uint8Array(buffer);
  for (let at = 0; at < bytes.length; at += 1) view[at] = bytes.charCodeAt(at);
  return buffer;
}
