import type { GatewayConfig } from "@/server/contracts/gatewayAdmin";
import type { GatewayControls } from "@/server/contracts/gatewayControls";
import type { ApiError } from "./apiError";
import { type ControlGround, conflict } from "./control";
import { PanicControl } from "./panicControl";

/** What an operator does to live traffic beside the configuration, as an earlier start kept it. */
export class Controls {
  readonly panic: PanicControl;

  constructor(ground: ControlGround) {
    this.panic = new PanicControl(ground);
  }

  /** All of them, for GET `/status`. */
  summary(): GatewayControls {
    return { panic: this.panic.read(), canary: null, shadow: null, mirror: null };
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
