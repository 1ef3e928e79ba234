import { useSingleKeys } from '../live/single-keys.ts'
import { Dialog } from './dialog.tsx'

const keys = [
  ['Ctrl K, ⌘ K', 'go to a page, a database or an action'],
  ['g o, g d, g a, g n', 'Overview, Databases, Actions, Nodes'],
  ['/', 'to the filter of a list'],
  ['j, k, Enter', 'down and up a list, and open'],
  ['e, c', 'of an action: its events, and copy its certificates'],
  ['?', 'this list'],
  ['Esc', 'out of a question, without an order'],
] as const

/** Lists the shortcuts. No single key gives an order. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const [isOn, turn] = useSingleKeys()
  const close = (
    // biome-ignore lint/a11y/noAutofocus: the focus has to be in the dialog
    <button type="button" className="button" autoFocus onClick={onClose}>
      Close
    </button>
  )
  return (
    <Dialog title="Keys" onClose={onClose} buttons={close}>
      <dl className="keys">
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt className="mono">{key}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={(event) => turn(event.target.checked)} /> Keys without
        Ctrl or ⌘
      </label>
    </Dialog>
  )
}
