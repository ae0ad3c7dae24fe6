import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayControls, Mirror, MirrorRequest, Shadow, ShadowRequest } from "@/server/contracts/gateway/gatewayControls";
import { type ApiError, conflict } from "../http/apiError";
import { CanaryControl, type CanaryDeps } from "./canaryControl";
import { CaptureControl, type CaptureDeps } from "./captureControl";
import type { ControlsStore, OrderedControl } from "./controlsStore";
import { MirrorSamples } from "./mirrorSamples";
import { PanicControl } from "./panicControl";
import { StrictStagesControl } from "./strictStagesControl";
import { mirrorControl, shadowControl, type WatchControl, type WatchDeps } from "./watchControl";

/** The operator's interventions in live traffic, restored from an earlier start. */
export class Controls {
  readonly panic: PanicControl;
  readonly canary: CanaryControl;
  readonly shadow: WatchControl<ShadowRequest, Shadow>;
  readonly mirror: WatchControl<MirrorRequest, Mirror>;
  readonly capture: CaptureControl;
  readonly strictStages: StrictStagesControl;

  /** Requests that mirrors sent through all models since the gateway started. */
  readonly mirrorSamples = new MirrorSamples();

  readonly #store: ControlsStore;

  constructor(given: Omit<WatchDeps, "samples"> & CanaryDeps & CaptureDeps) {
    const deps = { ...given, samples: this.mirrorSamples };
    this.#store = deps.store;
    this.canary = new CanaryControl(deps);
    this.panic = new PanicControl(deps, (by) => this.canary.withdraw("A panic was declared.", by));
    this.shadow = shadowControl(deps);
    this.mirror = mirrorControl(deps);
    this.capture = new CaptureControl(deps);
    this.strictStages = new StrictStagesControl(deps);
  }

  /** Remembers the text that the studio signed for a control, so that a restart resumes it; absent: orders are not signed. */
  async prove(control: OrderedControl, text: string | undefined): Promise<void> {
    const { kept } = this.#store;
    if (text !== undefined) await this.#store.keep({ proofs: { ...kept.proofs, [control]: text } });
  }

  /** All controls, for GET `/status`. */
  summary(): GatewayControls {
    const { panic, canary, shadow, mirror, capture, strictStages } = this;
    return {
      ...{ panic: panic.read(), canary: canary.read(), shadow: shadow.read(), mirror: mirror.read(), capture: capture.read() },
      lastMirrorSample: this.mirrorSamples.latest,
      strictStages: strictStages.read(),
    };
  }

  /** Stops the controls; their stored state stays. */
  close(): void {
    this.canary.close();
    this.shadow.close();
    this.mirror.close();
    this.capture.close();
  }

  /** Why a valid configuration cannot be put into force now; null if it can. */
  configRefusal(config: GatewayConfig): ApiError | null {
    const model = this.panic.read()?.model;
    if (model === undefined || config.replicas.some((replica) => replica.model === model && replica.state === "active")) return null;
    return conflict(
      `Every request goes to ${model} until the panic is cleared, and this configuration has no engine of it that accepts work.`,
    );
  }
}
