import { type UserCards, type UserGpu, userGpuSchema } from "@/solver/hardware/cardSchema";

/** One core of a processor, which stands for a GPU on a host without any. */
export const coreCard: UserGpu = userGpuSchema.parse({
  ...{ id: "cpu-core", name: "one processor core", link: "pcie", efficienciesOf: "l40s" },
  ...{ memoryBytes: 4e9, memoryBytesPerSecond: 1e10, denseFlopsBf16: 2e11, linkBytesPerSecond: 1e10, pcieBytesPerSecond: 1e10 },
  source: "round figures: measure the engines for plans that hold",
});

/** The user's cards with that of a core, unless one has its id: it may have been measured. */
export const withCoreCard = (cards: UserCards): UserCards =>
  cards.gpus.some(({ id }) => id === coreCard.id) ? cards : { ...cards, gpus: [...cards.gpus, coreCard] };
