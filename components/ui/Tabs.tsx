/** Parts of a page, one of which is shown; the address names it, so that each is a page to assistive software. */
export function Tabs<Tab extends string>({
  label,
  names,
  tabs,
  tab,
  onTab,
}: {
  readonly label: string;
  readonly names: Readonly<Record<Tab, string>>;
  readonly tabs: readonly Tab[];
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
}) {
  return (
    <nav aria-label={label} className="flex gap-1 overflow-x-auto overflow-y-hidden border-b">
      {tabs.map((each) => (
        <button
          key={each}
          type="button"
          aria-current={each === tab ? "page" : undefined}
          onClick={() => onTab(each)}
          className={`-mb-px flex h-9 items-center border-b-2 px-3 text-sm whitespace-nowrap ${each === tab ? "border-accent font-medium text-ink" : "border-transparent text-ink-2 hover:text-ink"}`}
        >
          {names[each]}
        </button>
      ))}
    </nav>
  );
}
