import { studioSettings } from "@/server/lib/studioSettings";
import { openStore, type Store } from "@/server/store/store";

/** Runs `work` with the store of this machine's studio, and closes it. */
export async function withStore<Done>(work: (store: Store) => Done | Promise<Done>): Promise<Done> {
  const store = openStore(studioSettings(process.env).stateDir);
  try {
    return await work(store);
  } finally {
    store.close();
  }
}
