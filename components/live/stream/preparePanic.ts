import type { LiveFrame, Panic } from "@/server/contracts/studio";

/** The panic that decides at the time of a frame; null: none. */
export const panicOf = ({ gateway }: LiveFrame): Panic | null => gateway.routing?.controls?.panic ?? null;

/** The effect of a panic on figures that are measured on requests which the plan decided. */
export function beforePanic({ model }: Panic): string {
  return `In panic ${model} answers everything and the plan is not used: latency, quality and stages here are from before the panic. The request rate and the engines' figures are current.`;
}
