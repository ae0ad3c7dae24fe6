import { cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { LARGE, SMALL } from "../connections";

/** Trained weights of both models. */
export interface WeightSet {
  /** As tables name it. */
  readonly name: string;
  /** A folder with one folder for each model, as `models/`. */
  readonly folder: string;
  /** Whether the larger model was trained again too; otherwise it is the one in `models/`. */
  readonly isLargeOwn: boolean;
}

/** The weights that are committed. */
export const committed = (root: string): WeightSet => ({ name: "seed 15", folder: join(root, "models"), isLargeOwn: true });

/**
 * The committed weights, and those of other seeds: `WEIR_BENCH_SEEDS` names a folder that has one folder for each seed, with what
 * `models/train.py` wrote for one model or for both.
 *
 * @param target a folder for sets that need a model of the committed ones.
 */
export function weightSets(
  root: string,
  target: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly WeightSet[] {
  const own = committed(root);
  const folder = environment.WEIR_BENCH_SEEDS ?? "";
  if (folder === "") return [own];
  const seeds = readdirSync(folder)
    .filter((name) => /^\d+$/.test(name) && isTrained(join(folder, name, SMALL)))
    .sort((a, b) => Number(a) - Number(b));
  return [own, ...seeds.map((seed) => weightSet(seed, { from: join(folder, seed), committed: own, target: join(target, seed) }))];
}

function weightSet(
  seed: string,
  { from, committed: { folder }, target }: { readonly from: string; readonly committed: WeightSet; readonly target: string },
): WeightSet {
  const isLargeOwn = isTrained(join(from, LARGE));
  mkdirSync(target, { recursive: true });
  cpSync(join(from, SMALL), join(target, SMALL), { recursive: true });
  cpSync(join(isLargeOwn ? from : folder, LARGE), join(target, LARGE), { recursive: true });
  return { name: `seed ${seed}`, folder: target, isLargeOwn };
}

const isTrained = (folder: string): boolean => existsSync(join(folder, "model.safetensors"));
