import type { Module } from '@fairlead/api'
import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api } from '../../live/api.ts'
import { keys } from '../../live/keys.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useOrder } from '../../live/use-order.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { KeepOrDelete } from '../../parts/keep-or-delete.tsx'
import { Problem } from '../../parts/problem.tsx'
import { bytes } from '../../words/format.ts'

/** Uploads a package, and shows the server's objections. */
export function UploadModule() {
  const isStale = useIsStale()
  const field = useId()
  const client = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const upload = useOrder({
    mutationFn: (sent: File) => api.uploadModule({ file: piecesOf(sent) }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.modules }),
  })
  const take = (chosen: File | undefined) => {
    if (chosen === undefined || isStale) return
    setFile(chosen)
    upload.mutate(chosen)
  }
  return (
    <div className="drop card">
      <label htmlFor={field}>Add a module: a zip with module.json and the shared object</label>
      <input
        id={field}
        type="file"
        accept=".zip,application/zip"
        disabled={isStale || upload.isPending}
        onChange={(event) => {
          take(event.target.files?.[0])
          // Lets the same file be chosen again after a fix.
          event.target.value = ''
        }}
      />
      <div role="status">
        {file !== null && upload.isPending && `Sends and checks ${file.name}, ${bytes(file.size)} …`}
        {upload.isSuccess && `${upload.data.module_name} ${upload.data.semantic_version} is in the catalogue`}
      </div>
      {upload.error !== null && <Problem error={upload.error} />}
    </div>
  )
}

const PIECE_BYTES = 1 << 20

async function* piecesOf(file: File): AsyncIterable<Uint8Array> {
  for (let at = 0; at < file.size; at += PIECE_BYTES)
    yield new Uint8Array(await file.slice(at, at + PIECE_BYTES).arrayBuffer())
}

/** Asks first; the server checks that no database uses the module. */
export function DeleteModule({ module }: { readonly module: Module }) {
  const [isAsked, ask] = useState(false)
  const isStale = useIsStale()
  const client = useQueryClient()
  const remove = useOrder({
    mutationFn: () => api.deleteModule({ params: { uid: module.uid } }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.modules }),
  })
  const name = `${module.module_name} ${module.semantic_version}`
  const close = () => ask(false)
  const confirm = () => {
    close()
    remove.mutate()
  }
  return (
    <>
      <button
        type="button"
        className="button button-quiet"
        disabled={isStale || remove.isPending}
        aria-label={`Delete ${name}`}
        onClick={() => ask(true)}
      >
        Delete…
      </button>
      {remove.error !== null && <Problem error={remove.error} />}
      {isAsked && (
        <Dialog title={`Delete ${name}?`} onClose={close} buttons={<KeepOrDelete no={close} yes={confirm} />}>
          <p>It leaves the catalogue. A module that a database uses cannot be deleted.</p>
        </Dialog>
      )}
    </>
  )
}
