import { deleteCertificate, getCertificates, operatorOperations, updateCertificate } from '@fairlead/api'
import { actorOf } from '../core/identity/access.ts'
import type { Mount } from '../http/mount.ts'
import type { Tls, TlsNow } from './tls-service.ts'

/** Serves the TLS certificates; private keys are taken and never answered. `onOther`: endpoints have another one to show. */
export function tlsRoutes(mount: Mount, tls: Tls, onOther: () => Promise<void>): void {
  mount(getCertificates, async () => toWire(await tls.current()))

  mount(updateCertificate, async ({ body: { certificate, key } }, caller) => {
    const now = await tls.replace({ cert: certificate, key }, actorOf(caller))
    await onOther()
    return toWire(now)
  })

  mount(deleteCertificate, async (_, caller) => {
    const now = await tls.reset(actorOf(caller))
    await onOther()
    return toWire(now)
  })
}

/** For the operator of the machine. */
export function operatorTlsRoutes(mount: Mount, tls: Tls): void {
  mount(operatorOperations.getCertificates, async () => toWire(await tls.current()))
}

/** The public part, without keys. */
function toWire({ ca, proxy }: TlsNow) {
  return { ca_cert: ca, proxy_cert: proxy.cert }
}
