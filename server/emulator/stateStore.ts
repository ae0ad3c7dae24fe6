import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type EmulatedOutcomes, engineRequestSchema } from "@/server/contracts/engine/emulatorAdmin";

const stateSchema = z.object({
  judgePort: z.int().nullable(),
  engines: z.array(engineRequestSchema.extend({ port: z.int() })),
});

/** The running engines and their ports. */
type EmulatorState = z.infer<typeof stateSchema>;

/** The emulator's state that survives a restart. */
export interface StateStore {
  /** The saved state; throws with a sentence if the file is invalid. */
  readState(): EmulatorState;
  writeState(state: EmulatorState): void;
  /** The stored outcomes, not validated; null if there are none. */
  readOutcomes(): unknown;
  writeOutcomes(outcomes: EmulatedOutcomes): void;
}

/** Stores the state in `emulator.json` and the outcomes next to it. Every write is atomic. */
export function createStateStore(folder: string): StateStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stateFile = join(folder, "emulator.json");
  const outcomesFile = join(folder, "emulator-outcomes.json");
  return {
    readState() {
      const parsed = stateSchema.safeParse(readJsonFile(stateFile) ?? { judgePort: null, engines: [] });
      if (!parsed.success) throw new Error(`${stateFile} is not an emulator's state: remove it to start with an empty cluster.`);
      return parsed.data;
    },
    writeState: (state) => replaceFile(stateFile, JSON.stringify(state)),
    readOutcomes: () => readJsonFile(outcomesFile),
    writeOutcomes: (outcomes) => replaceFile(outcomesFile, JSON.stringify(outcomes)),
  };
}

function readJsonFile(path: string): unknown {
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new Error(`${path} cannot be read as JSON: remove it to start without what it held.`, { cause });
  }
}

function replaceFile(path: string, text: string): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, "w");
  writeFileSync(file, text);
  fsyncSync(file);
  closeSync(file);
  renameSync(temporary, path);
}
