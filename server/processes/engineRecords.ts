import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { engineRequestSchema } from "@/server/contracts/engine/emulatorAdmin";

const engineOrderSchema = engineRequestSchema.extend({
  id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,199}$/),
  precision: z.enum(["bf16", "fp8", "int4"]),
  maxInFlight: z.int().positive().optional(),
});

const engineRecordSchema = z.object({
  order: engineOrderSchema,
  port: z.int(),
  /** The command line, keys hidden. */
  command: z.array(z.string()),
  log: z.string(),
  startedAt: z.iso.datetime(),
  /** null: it was about to be started, and may have been. */
  process: z.object({ pid: z.int().positive(), start: z.string().nullable() }).nullable(),
  /** It was asked to end. */
  stopping: z.boolean(),
  /** None of its processes runs any more. */
  ended: z.boolean(),
  /** How its process ended, if a studio was running to see it. */
  exit: z.object({ code: z.int().nullable(), signal: z.string().nullable(), at: z.iso.datetime() }).nullable(),
});

/** One engine that was started here, as stored on disk: from it a new studio knows what earlier ones began. */
export type EngineRecord = z.infer<typeof engineRecordSchema>;

/** Records of engines, one file each: always complete, read again each time, since a second studio may write them. */
export interface EngineRecords {
  /**
   * null if there is none.
   * @throws Error that names a file with an invalid record.
   */
  read(engineId: string): EngineRecord | null;
  all(): readonly EngineRecord[];
  write(record: EngineRecord): void;
  remove(engineId: string): void;
}

/** Whether this is a valid name of an engine: its files are named after it. */
export const isEngineId = (id: string): boolean => engineOrderSchema.shape.id.safeParse(id).success;

const suffix = ".json";

/** Records stored in a folder, which the first one creates. */
export function engineRecordsIn(folder: string): EngineRecords {
  const fileOf = (engineId: string): string => join(folder, `${engineId}${suffix}`);

  const read = (engineId: string): EngineRecord | null => {
    const file = fileOf(engineId);
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw error;
    }
    const parsed = engineRecordSchema.safeParse(parseJson(text));
    if (!parsed.success) throw new Error(`${file} is no record of an engine: see what runs, then mend or remove it.`);
    return parsed.data;
  };

  return {
    read,
    all() {
      if (!existsSync(folder)) return [];
      const files = readdirSync(folder).filter((name) => name.endsWith(suffix));
      return files.flatMap((name) => read(name.slice(0, -suffix.length)) ?? []);
    },
    write(record) {
      const file = fileOf(record.order.id);
      const written = `${file}.new`;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const descriptor = openSync(written, "w", 0o600);
      writeFileSync(descriptor, `${JSON.stringify(record, null, 2)}\n`);
      fsyncSync(descriptor);
      closeSync(descriptor);
      renameSync(written, file);
    },
    remove: (engineId) => rmSync(fileOf(engineId), { force: true }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
