import { Type } from 'typebox'
import { operation } from './operation.ts'

/** The names of the wider API, which also answers keys; this one never does. */
export const TlsCertificates = Type.Object({
  ca_cert: Type.String({
    description: 'Ours: the authority that signs what Fairlead makes, PEM; for clients to trust',
  }),
  proxy_cert: Type.String({ description: 'What the endpoints of databases show their clients, PEM' }),
})

const CertificateName = Type.Enum(['proxy'], { description: 'What the endpoints of databases show' })

/** GET /v1/cluster/certificates: the certificates as PEM, never a private key. */
export const getCertificates = operation({
  method: 'GET',
  path: '/v1/cluster/certificates',
  summary: 'Show the TLS certificates of the cluster, without their keys',
  since: '0.1.0',
  permission: 'view_cluster_info',
  ok: TlsCertificates,
  errors: [],
})

/**
 * PUT /v1/cluster/update_cert: takes a certificate and its key as PEM; refuses with `invalid_certificate` when they
 * cannot serve.
 */
export const updateCertificate = operation({
  method: 'PUT',
  path: '/v1/cluster/update_cert',
  summary: 'Give endpoints a TLS certificate of your own; connections stay, and who comes is shown it',
  since: '0.1.0',
  permission: 'update_cluster',
  body: Type.Object(
    {
      name: CertificateName,
      key: Type.String({
        maxLength: 32_768,
        description: 'The private key, PEM, not encrypted; it is never answered',
      }),
      certificate: Type.String({
        maxLength: 65_536,
        description: 'PEM: the certificate, followed by those of who signed it, in order',
      }),
    },
    { additionalProperties: false },
  ),
  ok: TlsCertificates,
  errors: ['invalid_certificate'],
})

/**
 * DELETE /v1/cluster/certificates/:certificate_name: endpoints go back to a certificate that the cluster signs
 * itself.
 */
export const deleteCertificate = operation({
  method: 'DELETE',
  path: '/v1/cluster/certificates/:certificate_name',
  summary: 'Take your own TLS certificate back: endpoints show one that the authority of the cluster signed',
  since: '0.1.0',
  permission: 'update_cluster',
  params: Type.Object({ certificate_name: CertificateName }),
  ok: TlsCertificates,
  errors: [],
})
