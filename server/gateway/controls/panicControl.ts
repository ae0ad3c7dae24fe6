import { type Panic, type PanicRequest, panicRequestSchema, type Signature } from "@/server/contracts/gateway/gatewayControls";
import { type ApiError, conflict, nothingToEnd } from "../http/apiError";
import { withReason } from "../lib/auditLog";
import type { Control, ControlDeps } from "./control";

/** Sends every request for text to one model until it is cleared. */
export class PanicControl implements Control<PanicRequest, Panic> {
  readonly schema = panicRequestSchema;
  readonly #deps: ControlDeps;
  readonly #onBegun: (by: string) => Promise<void>;

  /** `onBegun` is called as soon as it is in force. */
  constructor(deps: ControlDeps, onBegun: (by: string) => Promise<void>) {
    this.#deps = deps;
    this.#onBegun = onBegun;
    deps.serving.setPanic(deps.store.kept.panic?.model ?? null);
  }

  /** In force before it is stored, so that a full disk does not block an operator in an emergency. */
  async begin(request: PanicRequest): Promise<ApiError | null> {
    const { serving, store, audit } = this.#deps;
    const { model, by, reason } = request;
    if (!serving.pool.lists(model, { cordoned: false })) {
      const models = new Set(serving.pool.replicas.flatMap((replica) => (replica.cordoned ? [] : [replica.model])));
      const instead = models.size === 0 ? "" : `; there are engines of ${[...models].join(", ")}`;
      return conflict(`No engine of ${JSON.stringify(model)} takes new work${instead}.`);
    }
    serving.setPanic(model);
    const detail = withReason(`Every request for text goes to ${model}`, reason);
    await Promise.all([
      store.keep({ panic: { ...request, sinceMs: Date.now() } }),
      audit.note({ by, action: "panic", detail }),
      this.#onBegun(by),
    ]);
    return null;
  }

  read(): Panic | null {
    const { panic } = this.#deps.store.kept;
    if (panic === null || this.#deps.serving.pool.available(panic.model)) return panic;
    const warning = `No engine of ${panic.model} answers at the moment, so requests are refused until one does or the panic goes to another model.`;
    return { ...panic, warning };
  }

  async end({ by, reason }: Signature): Promise<ApiError | null> {
    const { serving, store, audit } = this.#deps;
    const panic = this.read();
    if (panic === null) return nothingToEnd("There is no panic to clear.");
    serving.setPanic(null);
    const detail = withReason(`Requests follow the plan again instead of going to ${panic.model}`, reason);
    await Promise.all([store.keep({ panic: null }), audit.note({ by, action: "panic lifted", detail })]);
    return null;
  }
}
