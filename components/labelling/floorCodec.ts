import { readNumber } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";

/** The floor of quality that measures are held against: `?floor=80`. null: the one that the page begins with. */
export const floorCodec: UrlCodec<{ readonly floor: number | null }> = {
  parse: (params) => ({ floor: readNumber(params, "floor", { min: 0, max: 100 }) }),
  format: ({ floor }) => ({ floor: floor === null ? undefined : String(floor) }),
};
