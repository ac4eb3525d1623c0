package app

import (
	"hale/internal/labs/critical"
	"hale/internal/people/messages"
	"hale/internal/people/messages/senders"
)

// messages makes what sends messages to patients, with the channels that are
// set up.
func (a *App) messages() (*messages.Service, error) {
	s := &messages.Service{BaseURL: a.URL}
	if address := a.Config.SMTPURL.Reveal(); address != "" {
		mailer, err := senders.NewSMTP(address, a.Config.MailFrom, nil)
		if err != nil {
			return nil, err
		}
		s.Email = mailer
	}
	if a.Config.SMSGatewayURL != "" {
		gateway, err := senders.NewGateway(a.Config.SMSGatewayURL, a.Config.SMSGatewaySecret.Reveal(), a.DB.Now)
		if err != nil {
			return nil, err
		}
		s.SMS = gateway
	}
	return s, nil
}

// criticalAlarms sends e-mails about critical results through the same server.
func (a *App) criticalAlarms() *critical.Service {
	return &critical.Service{Email: a.sending.Email, BaseURL: a.URL, Operators: a.Config.OperatorsEmail}
}
