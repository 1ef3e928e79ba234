import type { Module } from '@fairlead/api'
import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api } from '../../live/api.ts'
import { keys } from '../../live/keys.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useMay } from '../../live/permissions.ts'
import { useModules } from '../../live/queries.ts'
import { useOrder } from '../../live/use-order.ts'
import { DeleteButton } from '../../parts/dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty, Problem } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { bytes } from '../../words/format.ts'

const columns: readonly Column<Module>[] = [
  { name: 'Module', cell: (module) => module.module_name },
  { name: 'Version', cell: (module) => module.semantic_version },
  { name: 'Engine', cell: enginesOf },
  { name: 'Size', number: true, cell: (module) => bytes(module.size_bytes) },
  { name: 'Licence', wraps: true, cell: ({ license }) => license },
  { name: 'What it does', wraps: 'long', cell: ({ description }) => description },
]
const change: Column<Module> = { name: 'Change', cell: (module) => <DeleteModule module={module} /> }

/** The catalogue of modules. */
export function Modules() {
  const modules = useModules()
  const mayChange = useMay()('update_cluster')
  return (
    <Page title="Modules">
      {mayChange && <UploadModule />}
      <Answer of={modules} height={200}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="There is no module in the catalogue">
              <p>
                From a shell: <code>fairlead modules upload FILE</code>
              </p>
            </Empty>
          ) : (
            <Table
              label="Modules"
              columns={mayChange ? [...columns, change] : columns}
              keyOf={({ uid }) => uid}
              rows={all}
            />
          )
        }
      </Answer>
    </Page>
  )
}

function enginesOf({ min_engine_version: least, compatible_engine_version: only }: Module): string {
  return only ?? (least === null ? 'any' : `from ${least}`)
}

/** Uploads a package, and shows the server's objections. */
function UploadModule() {
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

/** The server checks that no database uses the module. */
function DeleteModule({ module }: { readonly module: Module }) {
  const client = useQueryClient()
  const remove = useOrder({
    mutationFn: () => api.deleteModule({ params: { uid: module.uid } }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.modules }),
  })
  return (
    <DeleteButton name={`${module.module_name} ${module.semantic_version}`} remove={remove}>
      <p>It leaves the catalogue. A module that a database uses cannot be deleted.</p>
    </DeleteButton>
  )
}
