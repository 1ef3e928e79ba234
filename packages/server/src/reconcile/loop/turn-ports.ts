import type { ObservingPorts } from '../look/observe.ts'
import type { StepPorts } from '../steps/carry-out.ts'
import type {
  ActionRecords,
  DatabaseRecords,
  EndpointProxy,
  EngineConnections,
  HandoverRecords,
  NodeAgent,
  ShardRecords,
} from '../turn/ports.ts'

/** All ports of a turn and its steps. Each function of a turn takes only the ports that it needs. */
export type TurnPorts = StepPorts &
  ObservingPorts &
  DatabaseRecords<'get' | 'setObstacle' | 'setHistories' | 'forgetFormer'> &
  ActionRecords<'active' | 'lanes' | 'listActive' | 'update' | 'finish'> &
  ShardRecords<'withReservation' | 'endReservations' | 'limitBefore' | 'setLimitBefore'> &
  NodeAgent<
    'putLimits' | 'putSaving' | 'putPasswords' | 'putUsers' | 'putShardCertificate' | 'readBaseline'
  > &
  EndpointProxy<'removeEndpoint' | 'readTape'> &
  HandoverRecords<'keepTape'> &
  EngineConnections<'connect' | 'tryOn' | 'acknowledge'>
