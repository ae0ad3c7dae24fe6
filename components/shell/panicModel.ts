import { sizeInName } from "../ui/modelIdentity";

/** The model to offer for a panic: the largest by its name, since its answers need no judge; the last where names tell no size. */
export function panicModel<Model extends { readonly model: string }>(models: readonly Model[]): Model | null {
  const size = ({ model }: Model): number => sizeInName(model) ?? 0;
  return models.reduce<Model | null>((best, each) => (best !== null && size(best) > size(each) ? best : each), null);
}
