/** Buttons of a deletion's question. The focus is on the harmless one. */
export function KeepOrDelete({ no, yes }: { readonly no: () => void; readonly yes: () => void }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noAutofocus: the focus is on the button that changes nothing */}
      <button type="button" className="button" autoFocus onClick={no}>
        Keep
      </button>
      <button type="button" className="button button-bad" onClick={yes}>
        Delete
      </button>
    </>
  )
}
