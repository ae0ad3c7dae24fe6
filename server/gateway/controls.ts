import type { GatewayConfig } from "@/server/contracts/gatewayAdmin";
import type { GatewayControls, Mirror, MirrorRequest, Shadow, ShadowRequest } from "@/server/contracts/gatewayControls";
import type { ApiError } from "./apiError";
import { CanaryControl, type CanaryGround } from "./canaryControl";
import { CaptureControl, type CaptureGround } from "./captureControl";
import { conflict } from "./control";
import { mirrorControl } from "./mirrorControl";
import { PanicControl } from "./panicControl";
import { shadowControl } from "./shadowControl";
import { StrictStagesControl } from "./strictStagesControl";
import type { WatchControl, WatchGround } from "./watchControl";

/** What an operator does to live traffic beside the configuration, as an earlier start kept it. */
export class Controls {
  readonly panic: PanicControl;
  readonly canary: CanaryControl;
  readonly shadow: WatchControl<ShadowRequest, Shadow>;
  readonly mirror: WatchControl<MirrorRequest, Mirror>;
  readonly capture: CaptureControl;
  readonly strictStages: StrictStagesControl;

  constructor(ground: WatchGround & CanaryGround & CaptureGround) {
    this.canary = new CanaryControl(ground);
    this.panic = new PanicControl(ground, (by) => this.canary.withdraw("A panic was declared.", by));
    this.shadow = shadowControl(ground);
    this.mirror = mirrorControl(ground);
    this.capture = new CaptureControl(ground);
    this.strictStages = new StrictStagesControl(ground);
  }

  /** All of them, for GET `/status`. */
  summary(): GatewayControls {
    const { panic, canary, shadow, mirror, capture, strictStages } = this;
    return {
      ...{ panic: panic.read(), canary: canary.read(), shadow: shadow.read(), mirror: mirror.read(), capture: capture.read() },
      strictStages: strictStages.read(),
    };
  }

  /** Ends what they do by themselves; what is kept stays kept. */
  close(): void {
    this.canary.close();
    this.shadow.close();
    this.mirror.close();
    this.capture.close();
  }

  /** Why a configuration that could be served cannot be put into force now; null where it can. */
  configRefusal(config: GatewayConfig): ApiError | null {
    const model = this.panic.read()?.model;
    if (model === undefined || config.replicas.some((replica) => replica.model === model && replica.state === "active")) return null;
    return conflict(
      `Every request goes to ${model} until the panic is lifted, and this configuration has no engine of it that takes work.`,
    );
  }
}
