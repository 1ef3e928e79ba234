import { expect, test } from 'vitest'
import { type CrowdClient, decideCrowd } from './decide-crowd.ts'
import { readClientList } from './read-client-list.ts'

let made = 0
function many(count: number, differs: Partial<CrowdClient>): readonly CrowdClient[] {
  return Array.from({ length: count }, () => {
    made += 1
    const usual = { ageSecs: 100, isOurs: false, isSilent: false, hasSignedIn: false, uid: 1_000 }
    return { id: String(made), ...usual, ...differs }
  })
}
const idsOf = (clients: readonly CrowdClient[]) => clients.map(({ id }) => id).toSorted()

test('while there is room, no connection is ended', () => {
  expect(decideCrowd(many(80, { isSilent: true }), 100)).toEqual({ cut: [], whose: new Map() })
})

test('connections that are silent for 10 s go first, whatever their user, and younger ones may still sign in', () => {
  const late = many(40, { isSilent: true, uid: null })
  const early = many(30, { isSilent: true, uid: null, ageSecs: 9 })
  const clients = [...early, ...many(30, { hasSignedIn: true }), ...late]
  const { cut, whose } = decideCrowd(clients, 100)
  expect(cut.toSorted()).toEqual(idsOf(late))
  expect(whose).toEqual(new Map([[null, 40]]))
})

test('then the excess is ended, of the user with the most connections that do not look signed in', () => {
  const ours = many(10, { isOurs: true, uid: 0 })
  const few = many(15, { uid: 1_000 })
  const signedIn = many(5, { uid: 65_534, hasSignedIn: true })
  const crowd = many(70, { uid: 65_534, ageSecs: 0 })
  const { cut, whose } = decideCrowd([...few, ...crowd, ...signedIn, ...ours], 100)
  expect(cut).toHaveLength(20)
  expect(cut.every((id) => idsOf(crowd).includes(id))).toBe(true)
  expect(whose).toEqual(new Map([[65_534, 20]]))
})

test('our own connections, signed-in ones, and active ones of an unknown user stay, however full it is', () => {
  const clients = [
    ...many(40, { isOurs: true, isSilent: true }),
    ...many(40, { hasSignedIn: true, isSilent: true }),
    ...many(20, { uid: null }),
  ]
  expect(decideCrowd(clients, 100).cut).toEqual([])
})

test('a connection of the list is silent, signed in or ours by its fields and by its user', () => {
  const line = (fields: string) => `id=7 addr=127.0.0.1:4000 name= age=3 flags=N db=0 ${fields} resp=2\n`
  const read = (text: string, uid?: number) =>
    readClientList(text, new Map(uid === undefined ? [] : [[4_000, uid]]))[0]
  const self = process.geteuid?.() ?? 0
  expect(read(line('cmd=NULL user=default'), 65_534)).toEqual({
    id: '7',
    ageSecs: 3,
    uid: 65_534,
    isSilent: true,
    hasSignedIn: false,
    isOurs: false,
  })
  expect(read(line('cmd=ping user=default tot-cmds=0'))?.isSilent).toBe(true)
  expect(read(line('cmd=auth user=default tot-cmds=1'))?.isSilent).toBe(false)
  expect(read(line('cmd=NULL user=default'), self)?.isOurs).toBe(true)
  expect(read(line('cmd=NULL user=default').replace('flags=N', 'flags=S'), 65_534)?.isOurs).toBe(true)
  expect(read(line('cmd=ping user=fairlead'))?.isOurs).toBe(true)
  for (const said of ['user=reader', 'user=default lib-name=x', 'user=default name=x'])
    expect(read(line(`cmd=auth ${said}`).replace('name= ', ''))?.hasSignedIn).toBe(true)
  expect(read(line('cmd=auth user=default').replace('resp=2', 'resp=3'))?.hasSignedIn).toBe(true)
  expect(readClientList('\nnonsense\nid=x y\n', new Map())).toEqual([])
})
