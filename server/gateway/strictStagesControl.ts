import { type Signature, type StrictStages, signatureSchema } from "@/server/contracts/gatewayControls";
import type { ApiError } from "./apiError";
import { type Control, type ControlGround, nothingToEnd, withReason } from "./control";

/** Refuses requests that only a smaller model than the policy chose could answer, until it is lifted. */
export class StrictStagesControl implements Control<Signature, StrictStages> {
  readonly schema = signatureSchema;
  readonly #ground: ControlGround;

  constructor(ground: ControlGround) {
    this.#ground = ground;
    ground.serving.lowerMayAnswer = ground.store.kept.strictStages === null;
  }

  async begin(request: Signature): Promise<ApiError | null> {
    const { serving, store, audit } = this.#ground;
    const { by, reason } = request;
    serving.lowerMayAnswer = false;
    const detail = withReason("No smaller model answers in the place of larger ones that are lost; such requests are refused", reason);
    await Promise.all([
      store.keep({ strictStages: { ...request, sinceMs: Date.now() } }),
      audit.note({ by, action: "strict stages", detail }),
    ]);
    return null;
  }

  read(): StrictStages | null {
    return this.#ground.store.kept.strictStages;
  }

  async end({ by, reason }: Signature): Promise<ApiError | null> {
    const { serving, store, audit } = this.#ground;
    if (this.read() === null) return nothingToEnd("Smaller models may answer in the place of lost larger ones already.");
    serving.lowerMayAnswer = true;
    const detail = withReason("The largest model that is left answers where larger ones are lost", reason);
    await Promise.all([store.keep({ strictStages: null }), audit.note({ by, action: "strict stages lifted", detail })]);
    return null;
  }
}
