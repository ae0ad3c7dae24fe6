import { type Panic, type PanicRequest, panicRequestSchema, type Signature } from "@/server/contracts/gatewayControls";
import type { ApiError } from "./apiError";
import { type Control, type ControlGround, conflict, nothingToEnd, withReason } from "./control";

/** Sends every request for text to one model until it is lifted. */
export class PanicControl implements Control<PanicRequest, Panic> {
  readonly schema = panicRequestSchema;
  readonly #ground: ControlGround;
  readonly #onBegun: (by: string) => Promise<void>;

  /** `onBegun` is told as soon as it is in force. */
  constructor(ground: ControlGround, onBegun: (by: string) => Promise<void>) {
    this.#ground = ground;
    this.#onBegun = onBegun;
    ground.serving.setPanic(ground.store.kept.panic?.model ?? null);
  }

  /** In force before it is kept, so that a full disk does not stand between an operator and an emergency. */
  async begin(request: PanicRequest): Promise<ApiError | null> {
    const { serving, store, audit } = this.#ground;
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
    const { panic } = this.#ground.store.kept;
    if (panic === null || this.#ground.serving.pool.available(panic.model)) return panic;
    const warning = `No engine of ${panic.model} answers at the moment, so requests are refused until one does or the panic goes to another model.`;
    return { ...panic, warning };
  }

  async end({ by, reason }: Signature): Promise<ApiError | null> {
    const { serving, store, audit } = this.#ground;
    const panic = this.read();
    if (panic === null) return nothingToEnd("There is no panic to lift.");
    serving.setPanic(null);
    const detail = withReason(`Requests go by the plan again, no longer to ${panic.model}`, reason);
    await Promise.all([store.keep({ panic: null }), audit.note({ by, action: "panic lifted", detail })]);
    return null;
  }
}
