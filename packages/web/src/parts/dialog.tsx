import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** The buttons: the first has the focus. */
  readonly buttons: ReactNode
}

/** A question before an order. Escape is a no. */
export function Dialog({ title, onClose, children, buttons }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <h2 id={heading}>{title}</h2>
      <div className="dialog-body">{children}</div>
      <div className="dialog-buttons">{buttons}</div>
    </dialog>
  )
}
