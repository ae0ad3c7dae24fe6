import type { UserCards, UserGpu } from "./cardSchema";

/** Id of the card of one processor core, for engines without a GPU. */
export const PROCESSOR_CARD = "cpu-core";

/**
 * A card of one processor core. Only its memory is known; its rates are round figures, which a measured profile does not use.
 *
 * @param memoryBytes of the host.
 */
export const processorCard = (memoryBytes: number): UserGpu => ({
  id: PROCESSOR_CARD,
  name: "one processor core",
  memoryBytes,
  memoryBytesPerSecond: 1e10,
  denseFlopsBf16: 1e11,
  denseFlopsFp8: null,
  link: "pcie",
  linkBytesPerSecond: 1e10,
  pcieBytesPerSecond: 1e10,
  powerWatts: null,
  efficienciesOf: "l40s",
  source: "memory of the host; rates are round figures, which predictions from measurements do not use",
});

/** The user's cards with that of a core, unless one has its id: it may have been measured. @param memoryBytes of the host. */
export const withProcessorCard = (cards: UserCards, memoryBytes: number): UserCards =>
  cards.gpus.some(({ id }) => id === PROCESSOR_CARD) ? cards : { ...cards, gpus: [...cards.gpus, processorCard(memoryBytes)] };
