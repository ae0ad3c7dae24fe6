import type { CardStore } from "@/server/cards/cardStore";
import type { Store } from "@/server/store/store";
import type { Uploads } from "@/server/store/uploads";

/** What most services are made with. */
export interface ServiceParts {
  readonly store: Store;
  readonly uploads: Uploads;
  readonly cards: CardStore;
}
