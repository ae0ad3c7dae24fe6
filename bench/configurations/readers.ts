import { acceptedLoss } from "@/solver/prediction/acceptance";
import type { ConfigurationRows } from "@/solver/prediction/configurationRows";
import { cheapestFirst } from "@/solver/prediction/configurations";
import { type Reading, readerBound } from "../lib/readings";
import type { SplitRows } from "./cases";
import { meanAuc } from "./figures";

/** Figures of a reader on held-out prompts, every head evaluated; shares in 0..1, losses in points of 100. */
export interface ReaderFigures {
  readonly auc: number;
  readonly precision: number;
  readonly recall: number;
  readonly meanLoss: number;
  readonly cheapestLoss: number;
}

/** Figures of a reading on rows. */
export function readerFigures({ logitsOf, threshold }: Reading, rows: ConfigurationRows): ReaderFigures {
  const { space, programs, accurate } = rows;
  const { size } = space;
  const heads = size - 1;
  const logits = logitsOf(rows);
  const least = Math.log(threshold / (1 - threshold));
  const accepts = (prompt: number, head: number): boolean => head === heads || (logits[prompt * heads + head] ?? 0) >= least;
  let [right, accepted, both] = [0, 0, 0];
  for (const [prompt, counts] of programs.entries()) {
    for (let head = 0; head < heads; head++) {
      const own = counts * (accurate[prompt * size + head] ?? 0);
      right += own;
      accepted += accepts(prompt, head) ? counts : 0;
      both += accepts(prompt, head) ? own : 0;
    }
  }
  const { mean, cheapest } = acceptedLoss({ ...rows, size, cheapestFirst: cheapestFirst(space) }, accepts);
  return { auc: meanAuc(logits, rows, heads), precision: both / accepted, recall: both / right, meanLoss: mean, cheapestLoss: cheapest };
}

/** Figures of the best reader of prompts there could be, whose knowledge comes from all rows of a split. */
export const boundFigures = ({ outcomes, learnt, left }: SplitRows): ReaderFigures => readerFigures(readerBound(outcomes, learnt), left);

/** A share of the prompts, spread evenly over all: what heads are learnt from in a learning curve. */
export function someRows(rows: ConfigurationRows, share: number): ConfigurationRows {
  const kept = Array.from(rows.prompts.keys()).filter((at) => Math.floor(at * share) !== Math.floor((at - 1) * share));
  const { size } = rows.space;
  const blocks = (values: Float32Array, width: number): Float32Array =>
    Float32Array.from(kept.flatMap((at) => [...values.subarray(at * width, (at + 1) * width)]));
  return {
    ...rows,
    prompts: Int32Array.from(kept, (at) => rows.prompts[at] ?? 0),
    facts: rows.facts.filter((_, at) => kept.includes(at)),
    programs: blocks(rows.programs, 1),
    accurate: blocks(rows.accurate, size),
    loss: blocks(rows.loss, size),
  };
}
