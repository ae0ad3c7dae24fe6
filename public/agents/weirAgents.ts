/**
 * Tells a Weir gateway which agent makes a call and whose answers it follows, so that the gateway learns what your application's workflow
 * looks like. No dependencies; for Node 18 and newer and for browsers. Copy it into your application.
 *
 *   const message = startMessage("report");
 *   await message.call("researcher", (headers) => client.chat.completions.create(request, { headers }));
 *   await message.call("writer", (headers) => fetch(url, { method: "POST", headers: { ...headers, ...own }, body }));
 */

/** Of the names of one call's upstream, as many are read. */
const MOST_UPSTREAM = 64;

/** A name as one word of at most 63 letters, digits, dots, lines and dashes, as headers carry it; empty where nothing of it is left. */
const oneWord = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 63);

/** An id that no other message has, in browsers without a secure context too. */
function newId(): string {
  const random = (): string => Math.random().toString(36).slice(2);
  return `${Date.now().toString(36)}-${random()}${random()}`;
}

/** A call that has ended; two of one agent are two. */
interface EndedCall {
  readonly agent: string;
}

/** One run of an application: what it is asked, and all calls of models that it makes to answer. */
export class Message {
  readonly application: string;
  readonly id: string;
  readonly startedAtMs: number;
  /** What ended last here, and the next call follows. */
  #last: readonly EndedCall[];

  constructor({ application, id, startedAtMs }: Pick<Message, "application" | "id" | "startedAtMs">, last: readonly EndedCall[] = []) {
    this.application = application;
    this.id = id;
    this.startedAtMs = startedAtMs;
    this.#last = last;
  }

  /**
   * Headers for one call:
   * `x-session-id` which message it belongs to, `x-weir-workflow` which application, `x-weir-agent` which agent calls,
   * `x-weir-parents` the agents whose answers it follows, an agent once for each answer (left out: the gateway takes the call
   * that ended last), and `x-weir-started-at` when the message began, in Unix milliseconds.
   */
  headers(agent: string, upstream: readonly string[] = []): Record<string, string> {
    const follows = upstream
      .map(oneWord)
      .filter((name) => name !== "")
      .slice(-MOST_UPSTREAM);
    const said = { "x-weir-workflow": oneWord(this.application), "x-weir-agent": oneWord(agent), "x-weir-parents": follows.join(",") };
    return {
      "x-session-id": this.id,
      "x-weir-started-at": String(this.startedAtMs),
      ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== "")),
    };
  }

  /** Makes a call that follows what ended last in this message; of calls made side by side, the next one follows all. */
  async call<Answer>(agent: string, send: (headers: Record<string, string>) => Promise<Answer>): Promise<Answer> {
    const before = this.#last;
    try {
      const upstream = before.map((call) => call.agent);
      return await send(this.headers(agent, upstream));
    } finally {
      this.#end(before, [{ agent }]);
    }
  }

  /** Runs several calls in turn beside others; without it these would follow what ended beside them too. */
  async branch<Result>(work: (branch: Message) => Promise<Result>): Promise<Result> {
    const before = this.#last;
    const branch = new Message(this, before);
    try {
      return await inMessage(branch, () => work(branch));
    } finally {
      if (branch.#last !== before) this.#end(before, branch.#last);
    }
  }

  /** What these calls themselves followed is behind them; what ended beside them is followed too. */
  #end(before: readonly EndedCall[], ended: readonly EndedCall[]): void {
    this.#last = [...this.#last.filter((call) => !before.includes(call)), ...ended].slice(-MOST_UPSTREAM);
  }
}

/** A message that begins now. `id` joins calls that several processes make for one message. */
export const startMessage = (application: string, id = newId()): Message => new Message({ application, id, startedAtMs: Date.now() });

type Carrier = { run<Result>(message: Message, work: () => Result): Result; getStore(): Message | undefined };
type Builtins = { process?: { getBuiltinModule?(name: string): { AsyncLocalStorage: new () => Carrier } | undefined } };
const asyncHooks = (globalThis as Builtins).process?.getBuiltinModule?.("node:async_hooks");
const carrier = asyncHooks && new asyncHooks.AsyncLocalStorage();

/** Runs `work` so that `currentMessage()` is this message wherever it is awaited. Browsers, and Node before 20.16, do not carry it. */
export const inMessage = <Result>(message: Message, work: () => Result): Result =>
  carrier === undefined ? work() : carrier.run(message, work);

/** The message that is being worked on; undefined outside of one. */
export const currentMessage = (): Message | undefined => carrier?.getStore();
