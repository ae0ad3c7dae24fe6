import { AsyncLocalStorage } from "node:async_hooks";
import { and, asc, count, desc, eq, getTableColumns, gt, gte, inArray, lt, lte, ne, or, type SQL, sql } from "drizzle-orm";
import type { AuditFilter, AuditLine, AuditObject, AuditOverview, AuditPage, AuditRecord } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import { chainHash, genesisId, genesisPrevious, type UnchainedRecord } from "./audit/auditChain";
import { headProblem, readAuditHead, writeAuditHead } from "./audit/auditHead";
import { createRefusalLimit } from "./audit/refusalLimit";
import type { LinkedRecord } from "./audit/verifyChain";
import type { Database } from "./database";
import { audit, gatewayAudits } from "./schema/users";

/** Position in a gateway's own audit, from which the next lines are requested. */
export interface GatewayAuditMark {
  readonly sequence: number;
  readonly atMs: number;
}

/** What an act is about: its name for people, and what is known of it. */
interface AuditSubject extends Pick<AuditLine, "objectKind" | "objectId" | "clusterId"> {
  readonly subject: string;
}

/** The person in whose name something is done now. */
interface ActingPerson {
  readonly name: string;
  readonly role: string;
  /** IP address that the request came from. */
  readonly address: string;
}

/** What the audit knows of the act that goes on. */
interface Acting extends ActingPerson {
  /** Whether a refusal of it is in the audit already. */
  refused: boolean;
}

/** Lines that a reader takes from the store at a time: between them others may write. */
const READ_LINES = 500;

/** The actor of automatic actions. */
const studio = "studio";

/**
 * Who did or tried what, and when: append-only, each line chained to the one before it, and the end of the chain noted in `audit.head` of the
 * state folder.
 */
export function createAuditRepository(db: Database, stateDir: string) {
  const began = beginChain(db);
  let headDue = false;
  let told: string | null = null;
  const refusals = createRefusalLimit((line) => add(line));
  const acting = new AsyncLocalStorage<Acting>();

  /** Role and address of a line whose actor is the person that acts now. */
  function origin(line: Pick<AuditLine, "actor" | "role" | "address">): Pick<AuditRecord, "role" | "address"> {
    const person = acting.getStore();
    const own = person?.name === line.actor ? person : undefined;
    return { role: line.role ?? own?.role ?? null, address: line.address ?? own?.address ?? null };
  }

  /** Appends a line. All texts are made well-formed first: the store would do it, and the hash would not match. */
  function add(line: AuditLine): void {
    const full: Omit<AuditRecord, "id" | "hash"> = {
      ...{ at: line.at, actor: line.actor, action: line.action, subject: line.subject, detail: line.detail },
      ...{ outcome: line.outcome ?? "done", times: line.times ?? 1 },
      ...{ objectKind: line.objectKind ?? null, objectId: line.objectId ?? null, clusterId: line.clusterId ?? null },
      ...origin(line),
    };
    // The command line may write too: nobody appends between reading the last line and writing the next.
    db.$client
      .transaction(() => {
        const last = newest(db);
        const record = { ...wellFormed(full), id: (last?.id ?? genesisId) + 1 };
        db.insert(audit)
          .values({ ...record, hash: chainHash(last?.hash ?? genesisPrevious, record) })
          .run();
      })
      .immediate();
    headSoon();
  }

  /** After the present transaction, which may be undone. */
  function headSoon(): void {
    if (headDue) return;
    headDue = true;
    setImmediate(() => {
      if (headDue) noteHead();
    });
  }

  /** An end that the store does not have any more stays noted: it is the evidence. */
  function noteHead(): void {
    headDue = false;
    try {
      // Read first: the command line may append, and note it, meanwhile.
      const head = readAuditHead(stateDir);
      const problem = head === null ? null : headProblem(head, head === "unreadable" ? null : hashOf(db, head.id));
      if (problem !== null) {
        tell(`${problem} See "weir audit verify".`);
        return;
      }
      const last = newest(db);
      const noted = head === null || head === "unreadable" ? { id: -1, count: 0 } : head;
      if (last === null || noted.id === last.id) return;
      const between = and(gt(audit.id, noted.id), lte(audit.id, last.id));
      const since = db.select({ lines: count() }).from(audit).where(between).get()?.lines ?? 0;
      writeAuditHead(stateDir, { id: last.id, hash: last.hash, count: noted.count + since });
    } catch (problem) {
      tell(`The end of the audit could not be noted: ${reasonOf(problem)}`);
    }
  }

  function tell(sentence: string): void {
    if (sentence !== told) process.stderr.write(`${sentence}\n`);
    told = sentence;
  }

  const note = (actor: string, action: string, subject: string | AuditSubject, detail = ""): void =>
    add({ at: new Date().toISOString(), actor, action, detail, ...(typeof subject === "string" ? { subject } : subject) });

  if (!began && readAuditHead(stateDir) === null)
    note(studio, "note the end of the audit anew", { subject: "audit.head", objectKind: "audit" }, headMissing);
  noteHead();

  return {
    add,
    /** Adds a line with the present time. */
    note,
    /** `note` for acts on one kind of object. */
    noting:
      (objectKind: AuditObject): typeof note =>
      (actor, action, subject, detail) =>
        note(actor, action, { objectKind, ...(typeof subject === "string" ? { subject } : subject) }, detail),
    /**
     * Adds a refused attempt. Repetitions within a minute become one line, and floods are counted only; texts are cut to some hundred
     * characters.
     */
    refused(line: Omit<AuditLine, "at" | "outcome" | "times">): void {
      const act = acting.getStore();
      if (act !== undefined) act.refused = true;
      refusals.add({ ...line, ...origin(line), at: new Date().toISOString(), outcome: "refused" });
    },
    /** Runs an act of a person: lines in that person's name get role and address. */
    within<Result>(person: ActingPerson, run: (act: Readonly<Acting>) => Result): Result {
      const act = { ...person, refused: false };
      return acting.run(act, () => run(act));
    },
    /** Newest first, without the beginning of the chain: lines of a gateway may arrive long after they were written. */
    list(limit: number): readonly AuditRecord[] {
      return db.select().from(audit).where(gt(audit.id, genesisId)).orderBy(desc(audit.at), desc(audit.id)).limit(limit).all();
    },
    /** One page of the lines that a filter asks for, newest first; null: the cursor is not one of a page. */
    page(filter: AuditFilter, cursor: string | null, limit: number): AuditPage | null {
      const asked = where(filter);
      const place = cursor === null ? undefined : placeAfter(cursor);
      if (place === null) return null;
      const order = [desc(audit.at), desc(audit.id)];
      const found = db
        .select()
        .from(audit)
        .where(and(asked, place))
        .orderBy(...order)
        .limit(limit + 1)
        .all();
      const lines = found.slice(0, limit);
      const last = lines.at(-1);
      const total = db.select({ lines: count() }).from(audit).where(asked).get()?.lines ?? 0;
      return { lines, total, next: found.length > limit && last !== undefined ? `${last.at}~${last.id}` : null };
    },
    overview(): AuditOverview {
      const actors = db.selectDistinct({ name: audit.actor }).from(audit).orderBy(asc(audit.actor)).limit(MOST_NAMES).all();
      const actions = db.selectDistinct({ name: audit.action }).from(audit).orderBy(asc(audit.action)).limit(MOST_NAMES).all();
      const head = readAuditHead(stateDir);
      return {
        actors: actors.map(({ name }) => name),
        actions: actions.map(({ name }) => name),
        lines: db.select({ lines: count() }).from(audit).get()?.lines ?? 0,
        headHash: newest(db)?.hash ?? genesisPrevious,
        headProblem: head === null ? null : headProblem(head, head === "unreadable" ? null : hashOf(db, head.id)),
      };
    },
    /** The lines that a filter asks for in the order of the chain, each with the hash before it; read in parts. */
    linked: (filter: AuditFilter): Generator<LinkedRecord> => linkedRecords(db, filter),
    /** The newest line of these actions on a subject; null: there is none. */
    last(subject: string, actions: readonly string[]): AuditRecord | null {
      const asked = and(eq(audit.subject, subject), inArray(audit.action, [...actions]));
      return db.select().from(audit).where(asked).orderBy(desc(audit.id)).limit(1).get() ?? null;
    },
    /** The last line of the gateway's own audit that was copied; null before the first. */
    taken(clusterId: string): GatewayAuditMark | null {
      const { sequence, atMs } = gatewayAudits;
      return db.select({ sequence, atMs }).from(gatewayAudits).where(eq(gatewayAudits.clusterId, clusterId)).get() ?? null;
    },
    markTaken(clusterId: string, { sequence, atMs }: GatewayAuditMark): void {
      db.insert(gatewayAudits)
        .values({ clusterId, sequence, atMs })
        .onConflictDoUpdate({ target: gatewayAudits.clusterId, set: { sequence, atMs } })
        .run();
    },
    /** Writes refusals that are only counted yet, and notes the end. */
    close(): void {
      refusals.flush();
      noteHead();
    },
  };
}

/** Names that a filter offers. */
const MOST_NAMES = 500;

const headMissing = "There was no audit.head at the start: whether lines were removed from the end before is not known.";

/** The lines that a filter asks for in the order of the chain, each with the hash before it; read in parts. */
export function* linkedRecords(db: Pick<Database, "select">, filter: AuditFilter): Generator<LinkedRecord> {
  const before = sql<string>`coalesce((select b.hash from audit b where b.id < audit.id order by b.id desc limit 1), ${genesisPrevious})`;
  for (let id = -1; ; ) {
    const lines = db
      .select({ ...getTableColumns(audit), previous: before })
      .from(audit)
      .where(and(gt(audit.id, id), where(filter)))
      .orderBy(asc(audit.id))
      .limit(READ_LINES)
      .all();
    yield* lines;
    const last = lines.at(-1);
    if (last === undefined || lines.length < READ_LINES) return;
    id = last.id;
  }
}

/** The hash of the store's line of that id, and the number of lines up to it. */
export function lineUpTo(db: Pick<Database, "select">, id: number): { readonly hash: string; readonly count: number } | null {
  const line = hashOf(db, id);
  return line === null ? null : { ...line, count: db.select({ lines: count() }).from(audit).where(lte(audit.id, id)).get()?.lines ?? 0 };
}

const hashOf = (db: Pick<Database, "select">, id: number): { readonly hash: string } | null =>
  db.select({ hash: audit.hash }).from(audit).where(eq(audit.id, id)).get() ?? null;

const newest = (db: Database) => db.select({ id: audit.id, hash: audit.hash }).from(audit).orderBy(desc(audit.id)).limit(1).get() ?? null;

function where({ actor, action, objectKind, object, outcome, from, to }: AuditFilter): SQL | undefined {
  const part = object?.toLowerCase();
  const has = (column: typeof audit.subject | typeof audit.objectId | typeof audit.clusterId): SQL =>
    sql`instr(lower(${column}), ${part}) > 0`;
  return and(
    actor === undefined ? undefined : eq(audit.actor, actor),
    action === undefined ? undefined : eq(audit.action, action),
    objectKind === undefined ? undefined : eq(audit.objectKind, objectKind),
    part === undefined ? undefined : or(has(audit.subject), has(audit.objectId), has(audit.clusterId)),
    outcome === undefined ? undefined : eq(audit.outcome, outcome),
    from === undefined ? undefined : gte(audit.at, from),
    to === undefined ? undefined : lt(audit.at, to),
  );
}

/** The lines after a page's last one; null: that is no cursor. */
function placeAfter(cursor: string): SQL | null {
  const [, at, id] = /^([^~]{1,40})~(\d{1,15})$/.exec(cursor) ?? [];
  if (at === undefined || id === undefined) return null;
  return or(lt(audit.at, at), and(eq(audit.at, at), lt(audit.id, Number(id)))) ?? null;
}

const wellFormed = <Members extends object>(members: Members): Members =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, typeof value === "string" ? Buffer.from(value).toString() : value]),
  ) as Members;

/**
 * Begins the chain of a store that has none, with the lines that earlier versions wrote.
 *
 * @returns whether it did
 */
function beginChain(db: Database): boolean {
  return db.$client
    .transaction(() => {
      if (db.select({ id: audit.id }).from(audit).where(ne(audit.hash, "")).limit(1).get() !== undefined) return false;
      const earlier = db.select().from(audit).orderBy(asc(audit.id)).all();
      const unprotected = `${earlier.length} earlier lines were chained at this time: a change of them before it cannot be found.`;
      const first: UnchainedRecord = {
        ...{ id: genesisId, at: new Date().toISOString(), actor: studio, action: "begin audit", subject: "audit" },
        detail: earlier.length === 0 ? "The chain begins." : unprotected,
        ...{ outcome: "done", objectKind: "audit", objectId: null, clusterId: null, role: null, address: null, times: 1 },
      };
      let previous = chainHash(genesisPrevious, first);
      db.insert(audit)
        .values({ ...first, hash: previous })
        .run();
      for (const record of earlier) {
        previous = chainHash(previous, record);
        db.update(audit).set({ hash: previous }).where(eq(audit.id, record.id)).run();
      }
      return true;
    })
    .immediate();
}
