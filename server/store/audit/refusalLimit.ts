import type { AuditLine } from "@/server/contracts/studio";

/** Repetitions within this time become one line. */
const WINDOW_MS = 60_000;
/** Different refusals that are written at once, in a window: of one source, and of all. */
const MOST_OF_SOURCE = 20;
const MOST_OF_ALL = 100;
/** Sources whose further refusals are counted apart. */
const MOST_SOURCES = 100;

/** Longest texts of a refusal, in UTF-16 units: they may be what a stranger sent. */
const LONGEST = { actor: 200, action: 100, subject: 200, detail: 500, objectId: 200, clusterId: 200, role: 100, address: 100 } as const;

interface Counted {
  readonly line: AuditLine;
  /** Attempts that no line stands for yet. */
  more: number;
}

/**
 * Keeps a flood of refused attempts from filling the audit: the first of a kind is written at once, its repetitions within a minute become
 * one line at the end of that minute. Beyond 20 kinds of one source and 100 of all, attempts are counted only, by source. At most some 300
 * lines a minute are written.
 *
 * @param write appends a line to the audit
 */
export function createRefusalLimit(write: (line: AuditLine) => void) {
  let counted = new Map<string, Counted>();
  let perSource = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const over = counted.values();
    counted = new Map();
    perSource = new Map();
    const at = new Date().toISOString();
    for (const { line, more } of over) if (more > 0) write({ ...line, at, times: more });
  }

  /** Further attempts of a source, in one line without what they were about. */
  function overflow({ actor, address = null, at }: AuditLine): Counted {
    const one: AuditLine = {
      at,
      actor,
      address,
      action: "several attempts",
      subject: "several",
      detail: overflowDetail,
      outcome: "refused",
    };
    const own = keyOf(one);
    const key = counted.has(own) || counted.size < MOST_OF_ALL + MOST_SOURCES ? own : "all";
    const known = counted.get(key) ?? { line: key === own ? one : { ...one, actor: "several", address: null }, more: 0 };
    counted.set(key, known);
    return known;
  }

  return {
    /** Writes a refused attempt, or counts it. */
    add(given: AuditLine): void {
      const line = shortened(given);
      timer ??= setTimeout(flush, WINDOW_MS).unref();
      const key = keyOf(line);
      const known = counted.get(key);
      if (known !== undefined) {
        known.more += 1;
        return;
      }
      const source = line.address ?? line.actor;
      const ofSource = perSource.get(source) ?? 0;
      if (ofSource >= MOST_OF_SOURCE || counted.size >= MOST_OF_ALL) {
        overflow(line).more += 1;
        return;
      }
      perSource.set(source, ofSource + 1);
      counted.set(key, { line, more: 0 });
      write(line);
    },
    /** Writes what is counted. */
    flush,
  };
}

const overflowDetail = "More different attempts than are written within a minute.";

const keyOf = ({ at: _, ...line }: AuditLine): string => JSON.stringify(Object.entries(line).sort());

function shortened(line: AuditLine): AuditLine {
  const cut = Object.entries(LONGEST).flatMap(([name, most]) => {
    const value = line[name as keyof typeof LONGEST];
    return typeof value === "string" && value.length > most ? [[name, `${value.slice(0, most - 1)}…`]] : [];
  });
  return { ...line, ...Object.fromEntries(cut) };
}
