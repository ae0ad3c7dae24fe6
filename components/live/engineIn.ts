import type { EngineFrame, LiveFrame } from "@/server/contracts/studio";

/** An engine in a frame before the newest, in which it has `place`: that is where it was too, unless engines came or went. */
export const engineIn = ({ engines }: LiveFrame, id: string, place: number): EngineFrame | undefined =>
  engines[place]?.id === id ? engines[place] : engines.find((engine) => engine.id === id);
