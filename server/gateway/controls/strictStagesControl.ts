import { type Signature, type StrictStages, signatureSchema } from "@/server/contracts/gateway/gatewayControls";
import { type ApiError, nothingToEnd } from "../http/apiError";
import { withReason } from "../lib/auditLog";
import type { Control, ControlDeps } from "./control";

/** Refuses requests that only a smaller model than the policy chose could answer, until it is cleared. */
export class StrictStagesControl implements Control<Signature, StrictStages> {
  readonly schema = signatureSchema;
  readonly #deps: ControlDeps;

  constructor(deps: ControlDeps) {
    this.#deps = deps;
    deps.serving.lowerMayAnswer = deps.store.kept.strictStages === null;
  }

  async begin(request: Signature): Promise<ApiError | null> {
    const { serving, store, audit } = this.#deps;
    const { by, reason } = request;
    serving.lowerMayAnswer = false;
    const detail = withReason("Smaller models do not answer for larger ones that are lost; such requests are refused", reason);
    await Promise.all([
      store.keep({ strictStages: { ...request, sinceMs: Date.now() } }),
      audit.note({ by, action: "strict stages", detail }),
    ]);
    return null;
  }

  read(): StrictStages | null {
    return this.#deps.store.kept.strictStages;
  }

  async end({ by, reason }: Signature): Promise<ApiError | null> {
    const { serving, store, audit } = this.#deps;
    if (this.read() === null) return nothingToEnd("Smaller models already answer for larger ones that are lost.");
    serving.lowerMayAnswer = true;
    const detail = withReason("The largest model that is left answers where larger ones are lost", reason);
    await Promise.all([store.keep({ strictStages: null }), audit.note({ by, action: "strict stages lifted", detail })]);
    return null;
  }
}
