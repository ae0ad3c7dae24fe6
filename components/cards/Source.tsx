import { Badge } from "../ui/Badge";

/** The origin of these figures. */
export function Source({
  own,
  provenance,
}: {
  readonly own: boolean;
  readonly provenance: { readonly kind: string; readonly source: string };
}) {
  return (
    <details className="max-w-72">
      <summary className="cursor-pointer whitespace-nowrap">
        <Badge tone={own ? "accent" : provenance.kind === "published" ? "neutral" : "hatched"}>{own ? "yours" : provenance.kind}</Badge>
      </summary>
      <span className="text-xs break-words text-ink-3">{provenance.source}</span>
    </details>
  );
}
