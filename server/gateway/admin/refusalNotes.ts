import type { IncomingMessage } from "node:http";
import type { ApiError } from "../http/apiError";
import { pathOf } from "../http/requestTarget";
import type { AuditNote } from "../lib/auditLog";

/** Repetitions of a kind within this time become one note. */
const windowMs = 60_000;

/** Longest part of a path that is noted, in UTF-16 units. */
const notedPathLength = 100;

/** Notes refused orders of the admin port: by kind, which is the error's code, the first at once and a count of the others a minute later. */
export class RefusalNotes {
  readonly #note: (note: AuditNote) => void;
  #counted = new Map<string, { readonly detail: string; more: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(note: (note: AuditNote) => void) {
    this.#note = note;
  }

  /** Notes a refused order, or counts it. */
  add(request: IncomingMessage, { code, message }: Pick<ApiError, "code" | "message">): void {
    this.#timer ??= setTimeout(() => this.flush(), windowMs).unref();
    const known = this.#counted.get(code);
    if (known !== undefined) {
      known.more += 1;
      return;
    }
    this.#counted.set(code, { detail: message, more: 0 });
    this.#note({ ...refused, detail: `${request.method} ${pathOf(request).slice(0, notedPathLength)}: ${message}` });
  }

  /** Notes what is counted. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counted = this.#counted.values();
    this.#counted = new Map();
    for (const { detail, more } of counted) if (more > 0) this.#note({ ...refused, detail, times: more });
  }
}

/** Nobody knows who sends an order without a valid token or signature: its body may give any name. */
const refused = { by: "unknown", action: "order refused" } as const;
