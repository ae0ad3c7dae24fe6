import type { CardStore } from "@/server/cards/cardStore";
import type { Store } from "@/server/store/store";
import type { Uploads } from "@/server/store/uploads";

/** The common dependencies of services. */
export interface ServiceParts {
  readonly store: Store;
  readonly uploads: Uploads;
  readonly cards: CardStore;
}
